// Return addresses as they are on the stack: a function may sign its own (pointer authentication),
// in the bits above those of an address.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// A program's code is below 2^48, so all bits above belong to the signature. Removing it from all
// return addresses costs less than finding out which are signed: functions that sign say so in
// their frame descriptions, by RA_SIGN_STATE.
inline std::uint64_t WithoutSignature(std::uint64_t return_address) {
  return return_address & ((std::uint64_t{1} << 48) - 1);
}

}  // namespace leakgate::agent
