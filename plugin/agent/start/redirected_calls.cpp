#include "plugin/agent/start/redirected_calls.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>

#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/host/on_switch.h"

// The interposed functions, by their names in the object file: what they take and return does not
// matter here. The linker binds them to this library's own (-Bsymbolic-functions).
#define LEAKGATE_OURS(symbol) extern "C" void Ours_##symbol() asm(#symbol);
#define LEAKGATE_ENTRY(symbol) \
  {.name = #symbol, .ours = reinterpret_cast<void*>(&Ours_##symbol), .family = kAllocation},
#define LEAKGATE_OTHER_ENTRY(symbol) \
  {.name = #symbol, .ours = reinterpret_cast<void*>(&Ours_##symbol), .family = kOther},

#define LEAKGATE_MALLOCS(apply)                                                              \
  apply(malloc) apply(free) apply(calloc) apply(realloc) apply(reallocarray) apply(memalign) \
      apply(aligned_alloc) apply(posix_memalign) apply(valloc) apply(pvalloc)
#define LEAKGATE_OPERATORS(apply)                                                             \
  apply(_Znwm) apply(_Znam) apply(_ZnwmRKSt9nothrow_t) apply(_ZnamRKSt9nothrow_t)             \
      apply(_ZnwmSt11align_val_t) apply(_ZnamSt11align_val_t)                                 \
          apply(_ZnwmSt11align_val_tRKSt9nothrow_t) apply(_ZnamSt11align_val_tRKSt9nothrow_t) \
              apply(_ZdlPv) apply(_ZdaPv) apply(_ZdlPvm) apply(_ZdaPvm)                       \
                  apply(_ZdlPvRKSt9nothrow_t) apply(_ZdaPvRKSt9nothrow_t)                     \
                      apply(_ZdlPvSt11align_val_t) apply(_ZdaPvSt11align_val_t)               \
                          apply(_ZdlPvmSt11align_val_t) apply(_ZdaPvmSt11align_val_t)         \
                              apply(_ZdlPvSt11align_val_tRKSt9nothrow_t)                      \
                                  apply(_ZdaPvSt11align_val_tRKSt9nothrow_t)
#define LEAKGATE_OTHERS(apply)                                                                 \
  apply(pthread_create) apply(dlclose) apply(exit) apply(_exit) apply(_Exit) apply(quick_exit) \
      apply(execve) apply(execv) apply(execvp) apply(execvpe) apply(execl) apply(execlp)       \
          apply(execle) apply(fexecve) apply(execveat) apply(posix_spawn) apply(posix_spawnp)  \
              apply(mmap) apply(mmap64) apply(munmap) apply(mremap) apply(mprotect)            \
                  apply(pkey_mprotect) apply(shmat) apply(shmdt)

LEAKGATE_MALLOCS(LEAKGATE_OURS)
LEAKGATE_OPERATORS(LEAKGATE_OURS)
LEAKGATE_OTHERS(LEAKGATE_OURS)

namespace leakgate::agent {
namespace {

// The loading of modules. What is loaded later calls the C library's malloc, so its calls are to be
// redirected, too. Only redirected slots lead to these functions: they are not exported.
//
// The dynamic linker looks at who calls dlopen and dlsym: for the search path ($ORIGIN, RUNPATH)
// and for RTLD_NEXT. Where the caller may matter, they are jumped to instead of called, and what
// has been loaded is redirected when one of them is called next.
void* LateDlopen(const char* file, int mode);
void* LateDlmopen(Lmid_t space, const char* file, int mode);
void* LateDlsym(void* module, const char* name);

constexpr auto kAllocation = Redirection::Family::kAllocation;
constexpr auto kOther = Redirection::Family::kOther;

Redirection g_functions[] = {
    LEAKGATE_MALLOCS(LEAKGATE_ENTRY) LEAKGATE_OPERATORS(LEAKGATE_ENTRY)
        LEAKGATE_OTHERS(LEAKGATE_OTHER_ENTRY){
            .name = "dlopen", .ours = reinterpret_cast<void*>(&LateDlopen), .family = kOther},
    {.name = "dlmopen", .ours = reinterpret_cast<void*>(&LateDlmopen), .family = kOther},
    {.name = "dlsym", .ours = reinterpret_cast<void*>(&LateDlsym), .family = kOther},
};

static_assert(sizeof(g_functions) / sizeof(g_functions[0]) <= kMostRedirections);

constinit SpinLock g_lock;

// Modules may have been loaded whose calls are not redirected yet.
constinit std::atomic<bool> g_is_pending{false};

void RedirectLoaded() {
  if (!IsTracing()) return;
  const RedirectedSlots slots = RedirectInterposed(Redirect::kToAgent);
  if (slots.skipped_modules) g_is_pending.store(true, std::memory_order_relaxed);
}

void RedirectPending() {
  if (!g_is_pending.load(std::memory_order_relaxed)) return;
  if (g_is_pending.exchange(false, std::memory_order_relaxed)) RedirectLoaded();
}

bool HasSearchPath(const link_map* module) {
  for (const ElfW(Dyn)* entry = module->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH) return true;
  }
  return false;
}

// Whether the module that calls may matter for what is loaded, and from where.
bool DependsOnCaller(const char* file, void* caller) {
  dl_find_object object;
  if (file == nullptr || std::strchr(file, '$') != nullptr) return true;
  if (_dl_find_object(caller, &object) != 0) return true;
  return HasSearchPath(object.dlfo_link_map);
}

__attribute__((noinline)) void* LoadAndRedirect(const char* file, int mode) {
  void* const module = g_host.dlopen(file, mode);
  if (module != nullptr) RedirectLoaded();
  return module;
}

void* LateDlopen(const char* file, int mode) {
  RedirectPending();
  if (!DependsOnCaller(file, __builtin_return_address(0))) return LoadAndRedirect(file, mode);
  g_is_pending.store(true, std::memory_order_relaxed);
  return g_host.dlopen(file, mode);
}

// Mostly loads into a name space of its own, with a C library of its own.
void* LateDlmopen(Lmid_t space, const char* file, int mode) {
  g_is_pending.store(true, std::memory_order_relaxed);
  return g_host.dlmopen(space, file, mode);
}

void* LateDlsym(void* module, const char* name) {
  RedirectPending();
  return g_host.dlsym(module, name);
}

}  // namespace

// An operator of the program's own is left alone, since the malloc behind it is recorded.
RedirectedSlots RedirectInterposed(Redirect to) {
  const SpinGuard guard(g_lock);
  FindOperators();
  FindHosts(g_functions);
  if (g_host.operators == OperatorSource::kProgram) {
    for (Redirection& function : g_functions) {
      if (function.name[0] == '_' && function.name[1] == 'Z') function.host = nullptr;
    }
  }
  return RedirectSlots(g_functions, to);
}

}  // namespace leakgate::agent
