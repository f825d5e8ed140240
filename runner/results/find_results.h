// The files that a command line names as results: files, and directories and zip
// archives of them.
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

// A directory stands for all *.json below it that are leakgate's reports, and those in
// zip archives there; what is not is named in a warning. `left_out`: what is there for
// something else. Errors: no such file; a result in a directory that was cut off or is of
// another version.
[[nodiscard]] Expected<FoundResults> FindResults(
    const std::vector<std::filesystem::path>& paths,
    const std::vector<std::filesystem::path>& left_out);

}  // namespace leakgate
