// A line of a source file. A plain value.
#pragma once

#include <string>

namespace leakgate {

struct SourcePosition {
  std::string file;  // as debug information has it, mostly absolute
  int line = 0;

  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

}  // namespace leakgate
