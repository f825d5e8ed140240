// The two halves of a command line.
#pragma once

#include <string>
#include <vector>

namespace leakgate {

// What stands before the first `--`, and the program with its arguments behind it.
struct SplitArguments {
  std::vector<std::string> options;
  std::vector<std::string> program;
};

[[nodiscard]] SplitArguments Split(const std::vector<std::string>& arguments);

}  // namespace leakgate
