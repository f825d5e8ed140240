// The code to which a signal handler returns has a frame description, like any other code.
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint64_t kSignalReturnCode = 0;  // no code is searched for
inline constexpr std::uint64_t kInterruptedRegistersAt = 0;
constexpr std::uint64_t InstructionOf(std::uint64_t lookup_pc) { return lookup_pc; }

}  // namespace leakgate::agent
