// The hooks on ntdll's heap. HeapAlloc, LocalAlloc, CoTaskMemAlloc, malloc and operator new of
// every runtime, static or shared, arrive at four functions of ntdll:
//
//   RtlAllocateHeap   RtlReAllocateHeap   RtlFreeHeap   RtlDestroyHeap
//
// Four more tell which heaps may be walked (heap_locks.h): RtlCreateHeap, RtlLockHeap,
// RtlUnlockHeap, NtTerminateThread. Their machine code is not touched. What leads to them is:
//
//   import tables     each slot of a loaded library that has the address of one of them, by
//                     whatever name it was imported
//   export table      ntdll's own: what is bound later (libraries that are loaded, GetProcAddress,
//                     names that other libraries forward) finds the hooks
//
// So the calls within ntdll are not seen: its own blocks, which are nobody's.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// Leads to the hooks all that leads to ntdll's heap. Returns false if the system refuses memory for
// code: then what is bound later would not be seen. REQUIRES: the library list is there; no other
// thread runs.
[[nodiscard]] bool InstallHeapHooks(std::uint64_t agent);

}  // namespace leakgate::agent
