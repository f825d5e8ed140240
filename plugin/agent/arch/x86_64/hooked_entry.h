// leakgate_enter_agent is where hooked functions of the program's executable go, with the agent's
// function pushed in front of the return address (common/entry_hooks.h). It calls that function as
// the program's caller would, but for what compilers leave out between functions of one file whose
// code they know: the stack need not be aligned, and registers that calls may change can be in use.
// It is in the agent's own code, so that exceptions pass through.
//
// Of vector registers, the lower halves are kept: those that code for any x86-64 processor uses.
#pragma once

#include <cstdint>

#include "plugin/agent/arch/caller_frame.h"

extern "C" __attribute__((visibility("hidden"))) void leakgate_enter_agent();
// Where the agent's function returns.
extern "C" __attribute__((visibility("hidden"))) const char leakgate_entered[];

namespace leakgate::agent {

// Returns the program's caller if `caller` is the code of leakgate_enter_agent; otherwise `caller`.
inline CallerFrame ThroughEntry(const CallerFrame& caller) {
  if (caller.pc != reinterpret_cast<std::uint64_t>(leakgate_entered)) return caller;
  const auto* const frame = reinterpret_cast<const std::uint64_t*>(caller.fp);
  return {frame[2], caller.fp + 24, frame[0]};
}

}  // namespace leakgate::agent
