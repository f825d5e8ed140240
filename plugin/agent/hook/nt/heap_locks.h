// Which heaps the agent must not walk while threads are stopped: those that the program has locked
// by itself (HeapLock), for as long as it likes, and those that have no lock, since a stopped
// thread may be about to change them. Once a thread has been ended by another one (TerminateThread)
// no heap is walked: that thread may have been in one of the heap's functions, whose lock nobody
// has any more.
#pragma once

#include "plugin/agent/nt/ntdll.h"

namespace leakgate::agent {

// The hooks on RtlCreateHeap, RtlLockHeap, RtlUnlockHeap and NtTerminateThread.
Heap __stdcall HookedCreate(unsigned long flags, void* at, std::size_t reserved_bytes,
                            std::size_t committed_bytes, void* lock, void* parameters);
unsigned char __stdcall HookedLock(Heap heap);
unsigned char __stdcall HookedUnlock(Heap heap);
long __stdcall HookedEndThread(void* thread, long status);

// Called when a heap is destroyed.
void ForgetLocksOf(Heap heap);

// Returns whether another thread than this one has locked the heap by itself.
[[nodiscard]] bool IsLockedByAnother(Heap heap);

// False if it is not known.
[[nodiscard]] bool MayBeWalked(Heap heap);

}  // namespace leakgate::agent
