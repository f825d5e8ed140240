// Live blocks in few words, for tests of what finds and reads blocks.
#pragma once

#include <cstdint>

#include "runner/region/region_copies.h"

namespace leakgate {

inline LiveBlock BlockAt(std::uint64_t address, std::uint64_t size) {
  return {.address = address, .size_bytes = size};
}

}  // namespace leakgate
