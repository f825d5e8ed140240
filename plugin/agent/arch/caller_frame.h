// Where a walk begins: the state of an interposed function's caller, just after the call returns.
//
// LEAKGATE_CALLER_FRAME(), which the processor's folder defines, makes one. It must be expanded in
// the interposed function itself. It reads the frame's address, so the compiler sets up a frame
// pointer for that function.
#pragma once

#include <cstdint>

#include "plugin/agent/arch/processor.h"

namespace leakgate::agent {

struct CallerFrame {
  std::uint64_t pc;
  std::uint64_t sp;
  std::uint64_t fp;
};

}  // namespace leakgate::agent

#include LEAKGATE_ARCH(caller)
