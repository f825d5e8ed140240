// Where a PE module's table of functions (.pdata) is. Each entry leads to what the function's
// prologue does (.xdata). All of that is read-only and mapped with the module.
//
// Formats: Microsoft's "x64 exception handling".
#pragma once

#include <cstdint>

namespace leakgate::agent {

struct FrameSection {
  std::uint64_t image = 0;  // where the module is mapped; 0: there is none
  std::uint32_t bytes = 0;  // of the module
  std::uint32_t table = 0;  // the table's offset, and how many entries it has, sorted by address
  std::uint32_t count = 0;
};

// Nothing is kept from one pc to the next: to find an entry takes a few steps.
class FrameRowReader {
 public:
  void Forget() {}
};

}  // namespace leakgate::agent
