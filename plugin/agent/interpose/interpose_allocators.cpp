// The functions that only some allocators have. Sized frees are forwarded without the size, because
// the block may be larger than the program knows (AskedOf).
#include <cstring>

#include "plugin/agent/interpose/allocator_calls.h"
#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/linux/call_slots.h"
#include "plugin/agent/start/entry_hooks.h"

// The agent's own interposed functions, by their names in the object file. They are also used for
// an allocator's alternative names. Their parameter and result types do not matter here.
#define LEAKGATE_FUNCTIONS(apply)                                                              \
  apply(malloc) apply(free) apply(calloc) apply(realloc) apply(memalign) apply(posix_memalign) \
      apply(valloc) apply(pvalloc) apply(_Znwm) apply(_Znam) apply(_ZnwmRKSt9nothrow_t)        \
          apply(_ZnamRKSt9nothrow_t) apply(_ZdlPv) apply(_ZdaPv) apply(_ZdlPvm) apply(_ZdaPvm) \
              apply(_ZdlPvRKSt9nothrow_t) apply(_ZdaPvRKSt9nothrow_t)
#define LEAKGATE_SAME(symbol) extern "C" void Same_##symbol() asm(#symbol);
LEAKGATE_FUNCTIONS(LEAKGATE_SAME)

using namespace leakgate::agent;
using leakgate::AllocationKind;
using leakgate::FreeKind;

namespace {

// jemalloc's functions, as its manual documents them.
struct AllocatorHost {
  void* (*mallocx)(std::size_t, int);
  void* (*rallocx)(void*, std::size_t, int);
  std::size_t (*xallocx)(void*, std::size_t, std::size_t, int);
  void (*dallocx)(void*, int);
};
constinit AllocatorHost g_allocator{};

void* OurMallocx(std::size_t bytes, int flags) {
  if (CurrentRoute() != Route::kTrace) return g_allocator.mallocx(bytes, flags);
  return Traced(AllocationKind::kMalloc, bytes, LEAKGATE_CALLER(),
                [=](std::size_t asked) { return g_allocator.mallocx(asked, flags); });
}

void* OurRallocx(void* block, std::size_t bytes, int flags) {
  if (CurrentRoute() != Route::kTrace) return g_allocator.rallocx(block, bytes, flags);
  return TracedAgain(block, bytes, LEAKGATE_CALLER(),
                     [=](std::size_t asked) { return g_allocator.rallocx(block, asked, flags); });
}

// Changes the size in place. Returns how large the block is then, including what the allocator has
// rounded up to.
std::size_t OurXallocx(void* block, std::size_t bytes, std::size_t more, int flags) {
  if (CurrentRoute() != Route::kTrace) return g_allocator.xallocx(block, bytes, more, flags);
  std::size_t real = 0;
  TracedAgain(block, bytes, LEAKGATE_CALLER(), [&](std::size_t asked) {
    real = g_allocator.xallocx(block, asked, more, flags);
    return real >= asked ? block : nullptr;  // null: it could not be made as large
  });
  return real;
}

void Free(void* block, const CallerFrame& caller) {
  if (CurrentRoute() == Route::kTrace) {
    RecordAnyFree(block, {FreeKind::kFree, ThroughEntry(caller)});
  }
}

void OurDallocx(void* block, int flags) {
  Free(block, LEAKGATE_CALLER());
  const AllocatorGuard guard;
  g_allocator.dallocx(block, flags);
}

void OurSdallocx(void* block, std::size_t, int flags) {
  Free(block, LEAKGATE_CALLER());
  const AllocatorGuard guard;
  g_allocator.dallocx(block, flags);
}

void OurFreeSized(void* block, std::size_t) {
  Free(block, LEAKGATE_CALLER());
  const AllocatorGuard guard;
  g_host.free(block);
}

void OurFreeAlignedSized(void* block, std::size_t, std::size_t) {
  Free(block, LEAKGATE_CALLER());
  const AllocatorGuard guard;
  g_host.free(block);
}

template <typename Function>
void* AddressOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

#define LEAKGATE_NAMED(symbol, function) \
  { .name = #symbol, .ours = AddressOf(&Same_##function) }

constexpr std::size_t kMallocx = 0;  // these four are called in turn
constexpr std::size_t kRallocx = 1;
constexpr std::size_t kXallocx = 2;
constexpr std::size_t kDallocx = 3;

Redirection g_calls[] = {
    {.name = "mallocx", .ours = AddressOf(&OurMallocx)},
    {.name = "rallocx", .ours = AddressOf(&OurRallocx)},
    {.name = "xallocx", .ours = AddressOf(&OurXallocx)},
    {.name = "dallocx", .ours = AddressOf(&OurDallocx)},
    {.name = "sdallocx", .ours = AddressOf(&OurSdallocx)},
    {.name = "free_sized", .ours = AddressOf(&OurFreeSized)},
    {.name = "free_aligned_sized", .ours = AddressOf(&OurFreeAlignedSized)},
    {.name = "tc_free_sized", .ours = AddressOf(&OurFreeSized)},
    {.name = "mi_free_size", .ours = AddressOf(&OurFreeSized)},
    {.name = "mi_free_size_aligned", .ours = AddressOf(&OurFreeAlignedSized)},
    LEAKGATE_NAMED(tc_malloc, malloc),
    LEAKGATE_NAMED(tc_free, free),
    LEAKGATE_NAMED(tc_cfree, free),
    LEAKGATE_NAMED(tc_calloc, calloc),
    LEAKGATE_NAMED(tc_realloc, realloc),
    LEAKGATE_NAMED(tc_memalign, memalign),
    LEAKGATE_NAMED(tc_posix_memalign, posix_memalign),
    LEAKGATE_NAMED(tc_valloc, valloc),
    LEAKGATE_NAMED(tc_pvalloc, pvalloc),
    LEAKGATE_NAMED(tc_new, _Znwm),
    LEAKGATE_NAMED(tc_newarray, _Znam),
    LEAKGATE_NAMED(tc_new_nothrow, _ZnwmRKSt9nothrow_t),
    LEAKGATE_NAMED(tc_newarray_nothrow, _ZnamRKSt9nothrow_t),
    LEAKGATE_NAMED(tc_delete, _ZdlPv),
    LEAKGATE_NAMED(tc_deletearray, _ZdaPv),
    LEAKGATE_NAMED(tc_delete_sized, _ZdlPvm),
    LEAKGATE_NAMED(tc_deletearray_sized, _ZdaPvm),
    LEAKGATE_NAMED(tc_delete_nothrow, _ZdlPvRKSt9nothrow_t),
    LEAKGATE_NAMED(tc_deletearray_nothrow, _ZdaPvRKSt9nothrow_t),
    LEAKGATE_NAMED(mi_malloc, malloc),
    LEAKGATE_NAMED(mi_free, free),
    LEAKGATE_NAMED(mi_calloc, calloc),
    LEAKGATE_NAMED(mi_realloc, realloc),
};
static_assert(sizeof(g_calls) / sizeof(g_calls[0]) <= kMostRedirections);

// A function of the same name in another module frees another allocator's blocks.
bool IsAllocators(const void* function) {
  const auto address = reinterpret_cast<std::uint64_t>(function);
  return address >= g_host.allocator_begin && address < g_host.allocator_end;
}

template <typename Function>
void Take(Function*& function, std::size_t call) {
  function = reinterpret_cast<Function*>(g_calls[call].host);
}

void TakeHosts() {
  Take(g_allocator.mallocx, kMallocx);
  Take(g_allocator.rallocx, kRallocx);
  Take(g_allocator.xallocx, kXallocx);
  Take(g_allocator.dallocx, kDallocx);
}

}  // namespace

namespace leakgate::agent {

void* CodeThatEnters() { return reinterpret_cast<void*>(&leakgate_enter_agent); }

void* HookAllocatorCall(const char* name, void* host) {
  for (Redirection& call : g_calls) {
    if (std::strcmp(call.name, name) != 0) continue;
    call.host = host;
    TakeHosts();
    return call.ours;
  }
  return nullptr;
}

void RedirectAllocatorCalls() {
  FindHosts(g_calls);
  bool has_any = false;
  for (Redirection& call : g_calls) {
    if (!IsAllocators(call.host)) call.host = nullptr;
    has_any = has_any || call.host != nullptr;
  }
  if (!has_any) return;
  TakeHosts();
  // Without dallocx, sdallocx cannot be called without the size.
  if (g_allocator.dallocx == nullptr) g_calls[kDallocx + 1].host = nullptr;
  RedirectSlots(g_calls, Redirect::kToAgent);
}

}  // namespace leakgate::agent
