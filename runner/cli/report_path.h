// Report files that many jobs write apart: what placeholders in their names stand
// for. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

// What tells one run from another.
struct RunNaming {
  int pid = 0;                           // leakgate's own
  std::string program;                   // as typed
  std::vector<std::string> environment;  // NAME=VALUE
};

// `path` with {pid}, {binary} (the program's file name), {shard} (GTEST_SHARD_INDEX,
// or 0), {outputs} (TEST_UNDECLARED_OUTPUTS_DIR, or the current directory) and
// {env:NAME}. Two opening braces are one, as they are. A usage error names a placeholder
// that there is not, or a variable that is not set.
[[nodiscard]] Expected<std::filesystem::path> ExpandReportPath(const std::filesystem::path& path,
                                                               const RunNaming& surroundings);

}  // namespace leakgate
