// --progress, which every command has that can take long.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "runner/base/expected.h"
#include "runner/cli/progress_mode.h"

namespace leakgate {

void AddProgressOption(CLI::App& app, std::optional<std::string>& raw);

// A usage error names the ways there are.
[[nodiscard]] Expected<ProgressMode> ParseProgress(const std::optional<std::string>& raw);

}  // namespace leakgate
