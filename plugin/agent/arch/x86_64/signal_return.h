// The code that a signal's handler returns to has a frame description, as any other.
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint64_t kSignalReturnCode = 0;  // none is looked for
inline constexpr std::uint64_t kInterruptedRegistersAt = 0;
constexpr std::uint64_t InstructionOf(std::uint64_t lookup_pc) { return lookup_pc; }

}  // namespace leakgate::agent
