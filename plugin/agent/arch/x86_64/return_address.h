// Return addresses as they are on the stack: nothing is added to them.
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline std::uint64_t WithoutSignature(std::uint64_t return_address) { return return_address; }

}  // namespace leakgate::agent
