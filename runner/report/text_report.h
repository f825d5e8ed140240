// What a person reads: why a window failed, and how the run went.
//
// The answer comes before the detail, the user's own frame first, then the
// reason and the remedy. Pure: values in, text out, the same every time.
#pragma once

#include <optional>
#include <string>

#include "runner/report/style.h"
#include "runner/result/run_result.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// Where a failing window's failure is best shown: the call site of its largest
// finding, else the test's definition, else nowhere.
[[nodiscard]] std::optional<SourcePosition> FailurePosition(const WindowResult& window);

// Why `window` is over budget, for GoogleTest to print as a failure's message:
// no name and no position, since GoogleTest prints both. No trailing newline.
// REQUIRES: window.verdict is kOverBudget.
[[nodiscard]] std::string FailureText(const WindowResult& window, const TextStyle& style);

// The same below a headline, "src/pool.cc:88: Failure in HttpTest.KeepAlive",
// for a window that GoogleTest could not fail. No trailing newline.
// REQUIRES: window.verdict is kOverBudget.
[[nodiscard]] std::string FailureTextWithHeadline(const WindowResult& window,
                                                  const TextStyle& style);

// `text`, or its beginning and its last line with a note between, in `capacity`
// bytes: the answer is at a failure's beginning, the remedy its last line.
[[nodiscard]] std::string CutInTheMiddle(const std::string& text, std::size_t capacity);

enum class SummaryDetail {
  kQuiet,   // what is not a pass; nothing if all is
  kNormal,  // and what is worth a line
  kVerbose  // and what passed with what evidence, and the costliest tests
};

// The end of a run, with a trailing newline: the complete text of each failure
// that GoogleTest has not shown, then the summary. One line if all passed.
[[nodiscard]] std::string SummaryText(const RunResult& result, const TextStyle& style,
                                      SummaryDetail detail = SummaryDetail::kNormal);

}  // namespace leakgate
