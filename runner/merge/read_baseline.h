// A baseline from a report, of one run or merged.
#pragma once

#include <filesystem>

#include "runner/judgement/baseline.h"
#include "runner/util/expected.h"

namespace leakgate {

// What counted in it, and what was known in it already. Error: as of ScanResults.
[[nodiscard]] Expected<Baseline> ReadBaseline(const std::filesystem::path& report);

}  // namespace leakgate
