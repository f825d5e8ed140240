// Which heaps the program has locked by itself (HeapLock), for as long as it likes. The agent must
// not wait for these.
#pragma once

#include "plugin/agent/nt/ntdll.h"

namespace leakgate::agent {

// The hooks on RtlLockHeap and RtlUnlockHeap.
unsigned char __stdcall HookedLock(Heap heap);
unsigned char __stdcall HookedUnlock(Heap heap);

// True if it is not known.
[[nodiscard]] bool MayBeLockedByProgram(Heap heap);

}  // namespace leakgate::agent
