// leakgate_enter_agent is where hooked functions of the program's executable go, with the agent's
// function in x16 (common/entry_hooks.h). It calls that function as the program's caller would, but
// for what compilers leave out between functions of one file whose code they know: registers that
// calls may change can be in use. It is in the agent's own code, so that exceptions pass through.
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
  return {frame[1], caller.fp + 16, frame[0]};
}

}  // namespace leakgate::agent
