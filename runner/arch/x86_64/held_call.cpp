#include "runner/arch/held_call.h"

#include <sys/ptrace.h>

namespace leakgate {

std::string_view WhyCannotCall(int) { return {}; }

// The kernel goes on with a call when its registers are set (IsToBeginAgain in signal_frame.cpp).
void NoteHowCallGoesOn(int, RegisterSet&) {}
void BeginCallAgain(int) {}

bool PutBack(int tid, const HeldState& state) {
  const std::uint64_t& blocked = state.blocked_signals;
  return ::ptrace(PTRACE_SETSIGMASK, tid, sizeof(blocked), &blocked) == 0 &&
         SetRegisterSet(tid, state.registers);
}

}  // namespace leakgate
