// Finds the files that a command line names as results: by their own names, or by directories and
// zip archives of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

struct FoundResults {
  std::vector<std::filesystem::path> files;  // sorted, each once
  std::vector<std::string> warnings;         // one line each
};

// A directory stands for all *.json below it that are leakgate's reports, also in zip archives. A
// warning names those that are no reports, unless they are in `left_out`. Returns an error if a
// file does not exist, or if a result in a directory was cut off or is of another version.
[[nodiscard]] Expected<FoundResults> FindResults(
    const std::vector<std::filesystem::path>& paths,
    const std::vector<std::filesystem::path>& left_out);

}  // namespace leakgate
