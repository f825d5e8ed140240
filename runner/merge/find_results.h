// The files that a command line names as results: files, and directories of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/util/expected.h"

namespace leakgate {

struct FoundResults {
  std::vector<std::filesystem::path> files;  // sorted, each once
  std::vector<std::string> warnings;         // one line each
};

// A directory stands for all *.json below it that are leakgate's reports; what is
// not is named in a warning. `left_out`: what is going to be written. Errors: no
// such file; a result in a directory that was cut off or is of another version.
[[nodiscard]] Expected<FoundResults> FindResults(
    const std::vector<std::filesystem::path>& paths,
    const std::vector<std::filesystem::path>& left_out);

}  // namespace leakgate
