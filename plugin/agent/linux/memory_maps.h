// One line of /proc/self/maps, read without the C library's help: no lock, no
// allocation. Slow: for what is asked once.
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint32_t kMaxPathBytes = 4096;

struct PathBuffer {
  char text[kMaxPathBytes];
};

struct MemoryMapping {
  std::uint64_t begin = 0;  // both 0 if there is none
  std::uint64_t end = 0;
  const char* path = nullptr;  // in the buffer; nullptr for anonymous memory
};

// The mapping that holds `address`. `buffer` may be of any length; a longer
// line is cut.
MemoryMapping FindMapping(std::uint64_t address, char* buffer, std::uint32_t buffer_bytes);

}  // namespace leakgate::agent
