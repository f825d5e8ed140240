#include "runner/cli/split_arguments.h"

#include <algorithm>

namespace leakgate {

SplitArguments Split(const std::vector<std::string>& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  SplitArguments split{{arguments.begin(), dashes}, {}};
  if (dashes != arguments.end()) split.program.assign(dashes + 1, arguments.end());
  return split;
}

}  // namespace leakgate
