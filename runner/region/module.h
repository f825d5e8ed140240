// A file that the test process has mapped, as the agent recorded it. A frame's address is
// symbolised in it.
#pragma once

#include <cstdint>
#include <string>

namespace leakgate {

struct Module {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;  // the run-time address minus the address in the file
  std::string path;
  std::string build_id;  // in hexadecimal; empty if the file has none
};

}  // namespace leakgate
