#include "runner/arch/held_call.h"

#include <sys/ptrace.h>

namespace leakgate {

std::string_view WhyCannotCall(int) { return {}; }

// On x86-64 the kernel decides when the thread continues, by its registers.
void NoteIfCallContinues(int, WhenInterrupted, RegisterSet&) {}
void RestartHeldCall(int, const RegisterSet&) {}

bool PutBack(int tid, const HeldState& state) {
  const std::uint64_t& blocked = state.blocked_signals;
  return ::ptrace(PTRACE_SETSIGMASK, tid, sizeof(blocked), &blocked) == 0 &&
         SetRegisterSet(tid, state.registers);
}

}  // namespace leakgate
