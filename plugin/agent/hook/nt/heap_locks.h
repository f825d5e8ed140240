// Which heaps the agent must not walk while threads are stopped: those that the program has locked
// by itself (HeapLock), for as long as it likes, and those that have no lock, since a stopped
// thread may be about to change them.
#pragma once

#include "plugin/agent/nt/ntdll.h"

namespace leakgate::agent {

// The hooks on RtlCreateHeap, RtlLockHeap and RtlUnlockHeap.
Heap __stdcall HookedCreate(unsigned long flags, void* at, std::size_t reserved_bytes,
                            std::size_t committed_bytes, void* lock, void* parameters);
unsigned char __stdcall HookedLock(Heap heap);
unsigned char __stdcall HookedUnlock(Heap heap);

// Called when a heap is destroyed.
void ForgetLocksOf(Heap heap);

// False if it is not known.
[[nodiscard]] bool MayBeWalked(Heap heap);

}  // namespace leakgate::agent
