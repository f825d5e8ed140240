// A function as debug information has it, and how it becomes a frame.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/symbols/frame.h"

namespace leakgate {

struct DebugFunction {
  std::string linkage_name;  // as the linker spells it; may be empty
  std::string name;          // set if the linkage name is missing or cannot be demangled; it has
                             // no parameters
  SourcePosition position;
  std::uint64_t begin = 0;            // its address in the file; 0: in several pieces, or inlined
  bool returns_void_pointer = false;  // it is declared to return void*
};

// Returns frames of `functions`, which are at one address, innermost first. `symbol` is what the
// symbol table has there. If there is no function, one frame is returned, which may have a name.
[[nodiscard]] std::vector<Frame> FramesOf(const std::vector<DebugFunction>& functions,
                                          std::string_view symbol);

// Returns whether an exported function returns a block that its caller owns.
[[nodiscard]] bool ReturnsBlock(std::string_view function);

}  // namespace leakgate
