// Lines and columns of a text, from offsets. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace leakgate {

// As editors count: from 1. A column is in bytes.
struct TextPosition {
  int line = 1;
  int column = 1;

  friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

class TextLines {
 public:
  explicit TextLines(std::string_view text);

  // A line break belongs to the line that it ends.
  [[nodiscard]] TextPosition At(std::size_t offset) const;

 private:
  std::vector<std::size_t> begins_;  // of each line; never empty
};

// The length of the byte order mark that `text` begins with; 0 without one.
[[nodiscard]] std::size_t ByteOrderMarkLength(std::string_view text);

}  // namespace leakgate
