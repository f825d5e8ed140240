// How often this process has read, as the kernel counts it: each reading of the list of mappings
// takes several calls.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace leakgate::test {

inline std::uint64_t ReadCalls() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t count = 0;
  while (file >> name >> count && name != "syscr:") {
  }
  return count;
}

}  // namespace leakgate::test
