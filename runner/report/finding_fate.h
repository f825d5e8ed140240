// Says what became of a finding's blocks: whether they count, and how that is known. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/result/finding.h"
#include "runner/result/run_result.h"

namespace leakgate {

// Returns "lost", "retained, repeated: +1 +1 +1 +1 +1 blocks", "one-time, repeated: +0 ..".
// It is empty where nothing is known, and not made printable.
[[nodiscard]] std::string FateText(const Finding& finding);

// Counts what tests left behind and passed with: "3 one-time initialisations, 1 bounded
// cache". It is empty if there is none.
[[nodiscard]] std::string PassedFates(const std::vector<WindowResult>& windows);

}  // namespace leakgate
