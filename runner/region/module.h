// A mapped file of the test process: what a frame's address is symbolised in.
// A plain value.
#pragma once

#include <cstdint>
#include <string>

namespace leakgate {

// A mapped file as the agent recorded it.
struct Module {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;  // run-time address minus the address in the file
  std::string path;
  std::string build_id;  // hexadecimal; empty if it has none
};

}  // namespace leakgate
