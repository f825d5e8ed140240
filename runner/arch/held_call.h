// How a thread that ptrace has stopped in a system call goes on with it.
//
// On x86-64 the kernel decides that when the thread continues, by its registers. On aarch64 it has
// decided before the stop: it puts the thread in front of the call's instruction, and remembers
// that a signal handler which runs first is to make the call fail. The registers do not show this.
// So where we have changed them, we first let the thread enter the call, and then release it.
// Signals wait for that, and then interrupt the call as they would have.
//
// If the runner is killed in these microseconds, the thread keeps its signals blocked from then on.
//
// The calling thread traces the thread, and has stopped it with PTRACE_INTERRUPT.
#pragma once

#include <string_view>

#include "runner/arch/registers.h"

namespace leakgate {

// Returns what the thread is doing that forbids making it call a function; empty if nothing does.
[[nodiscard]] std::string_view WhyCannotCall(int tid);

// What becomes of a system call that a stop interrupts.
enum class WhenInterrupted { kGoesOn, kFails };

// Finds out whether the kernel continues the thread's call where it was, as with a sleep, and notes
// that in `registers`, which are the thread's. Must be called before the thread calls anything.
void NoteIfCallContinues(int tid, WhenInterrupted interrupted, RegisterSet& registers);

// Makes the thread begin its system call once more. The caller must release the thread next.
// REQUIRES: `registers` are the thread's, and PrepareCallRestart has changed them.
void RestartHeldCall(int tid, const RegisterSet& registers);

// Puts a thread that has called functions back to where it was. The caller must release the thread
// next. Returns false if it has ended.
[[nodiscard]] bool PutBack(int tid, const HeldState& state);

}  // namespace leakgate
