// The end of a run as a person reads it. Pure: the same values give the same text.
#pragma once

#include <string>

#include "runner/report/style.h"
#include "runner/result/run_result.h"

namespace leakgate {

enum class SummaryDetail {
  kQuiet,    // only what is not a pass; nothing if everything passed
  kNormal,   // also what is worth a line
  kVerbose,  // also what passed, with the evidence, and the costliest tests
};

// Returns the complete text of each failure that GoogleTest has not shown, then the summary,
// which is one line if everything passed. It ends with a newline.
[[nodiscard]] std::string SummaryText(const RunResult& result, const TextStyle& style,
                                      SummaryDetail detail = SummaryDetail::kNormal);

}  // namespace leakgate
