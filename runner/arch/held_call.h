// How a thread that ptrace has stopped in a system call goes on with it.
//
// On x86-64 the kernel decides that when the thread goes on, by its registers. On aarch64 it has
// decided before the stop: it puts the thread in front of the call's instruction, and remembers
// that a signal's handler which runs first is to make the call fail. Registers say nothing of this.
// So where we have changed them, we have the thread come into the call before it is let go. Signals
// wait for that, and then interrupt the call as they would have.
//
// Should the runner be killed in these microseconds, the thread holds back its signals from then
// on.
//
// The calling thread traces the thread, and has stopped it with PTRACE_INTERRUPT.
#pragma once

#include <string_view>

#include "runner/arch/registers.h"

namespace leakgate {

// Returns what the thread is in the middle of that forbids to have it call a function; empty if
// nothing does.
[[nodiscard]] std::string_view WhyCannotCall(int tid);

// What becomes of a system call that a stop interrupts.
enum class WhenInterrupted { kGoesOn, kFails };

// Finds out whether the kernel goes on with the thread's call where it was, as with a sleep, and
// notes that in `registers`, which are the thread's. To be called before the thread calls anything.
void NoteHowCallGoesOn(int tid, WhenInterrupted interrupted, RegisterSet& registers);

// Has the thread begin its system call once more. It is to be let go next. REQUIRES: `registers`
// are the thread's, and MakeCallAgain has changed them.
void BeginCallAgain(int tid, const RegisterSet& registers);

// Puts a thread that has called functions back to where it was. It is to be let go next. Returns
// false if it has ended.
[[nodiscard]] bool PutBack(int tid, const HeldState& state);

}  // namespace leakgate
