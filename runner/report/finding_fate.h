// What became of a finding's blocks: whether they count, and how that is known, in words.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/result/finding.h"
#include "runner/result/run_result.h"

namespace leakgate {

// "lost", "retained, repeated: +1 +1 +1 +1 +1 blocks", "one-time, repeated: +0 ..".
// Empty where nothing is known. Not made printable.
[[nodiscard]] std::string FateText(const Finding& finding);

// "3 one-time initialisations, 1 bounded cache, 2 replaced": what tests left
// behind and passed with. Empty if there is none.
[[nodiscard]] std::string PassedFates(const std::vector<WindowResult>& windows);

}  // namespace leakgate
