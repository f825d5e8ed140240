// What CLI11 says of a wrong command line, as an error of ours: on one line.
#pragma once

#include <algorithm>
#include <string>

namespace leakgate {

[[nodiscard]] inline std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace leakgate
