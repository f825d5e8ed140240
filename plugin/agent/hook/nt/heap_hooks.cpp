#include "plugin/agent/hook/nt/heap_hooks.h"

#include <windows.h>

#include "plugin/agent/arch/caller_frame.h"
#include "plugin/agent/hook/nt/heap_locks.h"
#include "plugin/agent/hook/nt/import_slots.h"
#include "plugin/agent/hook/nt/memory_hooks.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/nt/image.h"
#include "plugin/agent/nt/last_error.h"
#include "plugin/agent/nt/ntdll.h"
#include "plugin/agent/record/recorder.h"

#include LEAKGATE_ARCH(interposer)

namespace leakgate::agent {
namespace {

constexpr std::uint64_t kGranuleMask = (std::uint64_t{1} << kGranuleShift) - 1;

// For all but the common case. Page heap may return blocks that are not aligned: these are drops.
__attribute__((noinline)) void* AllocateOtherwise(void* block, std::size_t bytes,
                                                  std::uint64_t caller_pc, std::uint64_t caller_sp,
                                                  std::uint64_t caller_fp) {
  if (block == nullptr || !IsTracing()) return block;
  return RecordAnyAllocation(block, bytes, AllocationKind::kMalloc,
                             {caller_pc, caller_sp, caller_fp});
}

void* __stdcall HookedAllocate(Heap heap, unsigned long flags, std::size_t bytes) {
  void* const block = g_ntdll.allocate(heap, flags, bytes);
  const CallerFrame caller = LEAKGATE_CALLER();
  const bool is_aligned = (reinterpret_cast<std::uint64_t>(block) & kGranuleMask) == 0;
  if (TracesLibcMalloc() && __builtin_expect(is_aligned, 1)) {
    return RecordAllocation(block, bytes, AllocationKind::kMalloc, caller);
  }
  return AllocateOtherwise(block, bytes, caller.pc, caller.sp, caller.fp);
}

void RecordFreeOtherwise(void* block, const CallerFrame& caller) {
  if (TracesLibcFree() && RecordFreeInWindow(block, FreeKind::kFree)) return;
  if (RecordsLibcFree() && (RecordFreeHere<Events::kWritten>(block, FreeKind::kFree) ||
                            RecordFreeInWindow<Events::kWritten>(block, FreeKind::kFree))) {
    return;
  }
  if (!IsTracing()) return;
  const FreeCall call{FreeKind::kFree, caller};
  if (TakesStacksOf(kStacksOfFree) && RecordFreeByStack(block, call)) return;
  RecordFree(block, call);
}

// HookedFree jumps here, so its caller is the same.
__attribute__((noinline)) unsigned char __stdcall FreeOtherwise(Heap heap, unsigned long flags,
                                                                void* block) {
  RecordFreeOtherwise(block, LEAKGATE_CALLER());
  return g_ntdll.free(heap, flags, block);
}

unsigned char __stdcall HookedFree(Heap heap, unsigned long flags, void* block) {
  const bool is_recorded = TracesLibcFree() && RecordFreeHere(block, FreeKind::kFree);
  return is_recorded ? g_ntdll.free(heap, flags, block) : FreeOtherwise(heap, flags, block);
}

// A heap may raise an exception instead of returning nothing. Where the caller asks for that, the
// block is recorded again first.
void* __stdcall HookedReallocate(Heap heap, unsigned long flags, void* block, std::size_t bytes) {
  if (!IsTracing()) return g_ntdll.reallocate(heap, flags, block, bytes);
  const CallerFrame caller = LEAKGATE_CALLER();
  const std::optional<FreedBlock> before = RecordFreeToReallocate(block, caller);
  constexpr unsigned long kRaises = HEAP_GENERATE_EXCEPTIONS;
  void* const moved = g_ntdll.reallocate(heap, flags & ~kRaises, block, bytes);
  if (moved == nullptr && before) RestoreBlock(block, *before);
  if (moved != nullptr) RecordAnyAllocation(moved, bytes, AllocationKind::kRealloc, caller);
  if (before) EndReallocation();
  if (moved == nullptr && (flags & kRaises) != 0) {
    return g_ntdll.reallocate(heap, flags, block, bytes);
  }
  return moved;
}

void RecordDestroyed(void* block, const CallerFrame& caller) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (slot != nullptr && LiveMap::IsLiveAt(slot)) RecordFree(block, {FreeKind::kFree, caller});
}

void RecordDestroyedByWalk(Heap heap, const CallerFrame& caller) {
  PROCESS_HEAP_ENTRY entry{};
  while (::HeapWalk(heap, &entry) != 0) {
    if ((entry.wFlags & PROCESS_HEAP_ENTRY_BUSY) != 0) RecordDestroyed(entry.lpData, caller);
  }
}

// Finds blocks in the allocation only with which the heap began. Where it has grown, the others
// count as live.
void RecordDestroyedByAddress(Heap heap, const CallerFrame& caller) {
  auto* at = static_cast<char*>(heap);
  MEMORY_BASIC_INFORMATION facts;
  while (::VirtualQuery(at, &facts, sizeof(facts)) != 0 && facts.AllocationBase == heap) {
    char* const end = at + facts.RegionSize;
    for (; at != end; at += kGranuleMask + 1) {
      if (facts.State == MEM_COMMIT) RecordDestroyed(at, caller);
    }
  }
}

// The blocks of a heap go with it. A walk would wait for another thread's lock, which ntdll does
// not do here.
Heap __stdcall HookedDestroy(Heap heap) {
  if (IsTracing()) {
    const LastErrorKeeper keeper;
    const CallerFrame caller = LEAKGATE_CALLER();
    if (IsLockedByAnother(heap)) {
      RecordDestroyedByAddress(heap, caller);
    } else {
      RecordDestroyedByWalk(heap, caller);
    }
  }
  ForgetLocksOf(heap);
  return g_ntdll.destroy(heap);
}

constexpr std::uint32_t kHeapHooks = 8;
constexpr std::uint32_t kHookCount = kHeapHooks + kMemoryHooks;
constinit SlotChange g_hooks[kHookCount] = {};

template <typename Function>
std::uint64_t AddressOf(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

// An export is an offset of 32 bits from ntdll. So the code that it leads to must be above ntdll:
//
//   mov rax, hook
//   jmp rax
constexpr std::uint64_t kStubBytes = 16;

// Returns memory within 4 GiB above `library`; nullptr if there is none.
std::uint8_t* AllocateAbove(const Image& library) {
  constexpr std::uint64_t kStep = 0x1'0000;
  constexpr std::uint64_t kFarthest = 0xF000'0000;
  const std::uint64_t first = (library.base() + library.bytes() + kStep - 1) & ~(kStep - 1);
  for (std::uint64_t at = first; at < library.base() + kFarthest; at += kStep) {
    void* const memory = ::VirtualAlloc(reinterpret_cast<void*>(at), kHookCount * kStubBytes,
                                        MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (memory != nullptr) return static_cast<std::uint8_t*>(memory);
  }
  return nullptr;
}

void WriteStub(std::uint8_t* stub, std::uint64_t target) {
  constexpr std::uint8_t kMoveToRax[] = {0x48, 0xB8};
  constexpr std::uint8_t kJumpToRax[] = {0xFF, 0xE0};
  __builtin_memcpy(stub, kMoveToRax, sizeof(kMoveToRax));
  __builtin_memcpy(stub + 2, &target, sizeof(target));
  __builtin_memcpy(stub + 10, kJumpToRax, sizeof(kJumpToRax));
}

bool PatchExports(const Image& library) {
  const auto* const table =
      library.At<IMAGE_EXPORT_DIRECTORY>(library.directory(IMAGE_DIRECTORY_ENTRY_EXPORT).offset);
  if (table == nullptr) return false;
  auto* const functions =
      library.At<std::uint32_t>(table->AddressOfFunctions, table->NumberOfFunctions);
  std::uint8_t* const stubs = AllocateAbove(library);
  if (functions == nullptr || stubs == nullptr) return false;
  for (std::uint32_t i = 0; i < kHookCount; ++i) WriteStub(stubs + i * kStubBytes, g_hooks[i].to);
  DWORD before = 0;
  if (::VirtualProtect(stubs, kHookCount * kStubBytes, PAGE_EXECUTE_READ, &before) == 0) {
    return false;
  }
  for (std::uint32_t i = 0; i < table->NumberOfFunctions; ++i) {
    for (std::uint32_t hook = 0; hook < kHookCount; ++hook) {
      if (library.base() + functions[i] != g_hooks[hook].from) continue;
      const std::uint64_t stub = AddressOf(stubs + hook * kStubBytes);
      const auto offset = static_cast<std::uint32_t>(stub - library.base());
      if (!Overwrite(&functions[i], &offset, sizeof(offset))) return false;
    }
  }
  return true;
}

}  // namespace

bool InstallHeapHooks(std::uint64_t agent) {
  g_hooks[0] = {AddressOf(g_ntdll.allocate), AddressOf(&HookedAllocate)};
  g_hooks[1] = {AddressOf(g_ntdll.reallocate), AddressOf(&HookedReallocate)};
  g_hooks[2] = {AddressOf(g_ntdll.free), AddressOf(&HookedFree)};
  g_hooks[3] = {AddressOf(g_ntdll.destroy), AddressOf(&HookedDestroy)};
  g_hooks[4] = {AddressOf(g_ntdll.lock), AddressOf(&HookedLock)};
  g_hooks[5] = {AddressOf(g_ntdll.unlock), AddressOf(&HookedUnlock)};
  g_hooks[6] = {AddressOf(g_ntdll.create), AddressOf(&HookedCreate)};
  g_hooks[7] = {AddressOf(g_ntdll.end_thread), AddressOf(&HookedEndThread)};
  SlotChange of_memory[kMemoryHooks];
  ListMemoryHooks(of_memory);
  for (std::size_t i = 0; i < kMemoryHooks; ++i) g_hooks[kHeapHooks + i] = of_memory[i];
  const Image ntdll(AddressOf(::GetModuleHandleW(L"ntdll.dll")));
  if (!PatchExports(ntdll)) return false;
  ChangeAllImportSlots(agent, g_hooks, kHookCount);
  return true;
}

}  // namespace leakgate::agent
