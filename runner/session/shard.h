// Which of a program's tests a process runs, where several share them out. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/report/run_result.h"

namespace leakgate {

// By GoogleTest's own variables, which Bazel sets as well. Nothing where they are
// not set, or not as GoogleTest takes them: it then ends the program itself.
[[nodiscard]] std::optional<Shard> ShardOf(const std::vector<std::string>& environment);

}  // namespace leakgate
