// Why a window failed, as a person reads it.
//
// The answer comes before the detail, the user's own frame first, then the
// reason and the remedy. Pure: the same values give the same text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "runner/report/causes.h"
#include "runner/report/style.h"
#include "runner/result/run_result.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// Returns where a failure is best shown: the call site of its largest finding, else
// the test's definition, else nullopt.
[[nodiscard]] std::optional<SourcePosition> FailurePosition(const WindowResult& window);

// Says why `window` is over budget, for GoogleTest to print as a failure's message:
// no name and no position, since GoogleTest prints both. No trailing newline.
// REQUIRES: window.verdict is kOverBudget.
[[nodiscard]] std::string FailureText(const WindowResult& window, const TextStyle& style);

// Returns the same text below a headline, "src/pool.cc:88: Failure in HttpTest.KeepAlive",
// for a window that GoogleTest could not fail. No trailing newline.
// REQUIRES: window.verdict is kOverBudget.
[[nodiscard]] std::string FailureTextWithHeadline(const WindowResult& window,
                                                  const TextStyle& style);

// Returns the same for all tests that fail for a cause: below a headline that counts and names
// them, such as "src/pool.cc:88: Failure in 40 tests: A.B, C.D, E.F and 37 more", the text of the
// worst. No trailing newline.
[[nodiscard]] std::string CauseTextWithHeadline(const Cause& cause, const TextStyle& style);

// Says that `window` fails as `first` does, a window that has been told of, and no more than that.
// No trailing newline. REQUIRES: window.verdict is kOverBudget.
[[nodiscard]] std::string SameFailureText(const WindowResult& window, const std::string& first,
                                          const TextStyle& style);

// Returns what these allocators did, as a verb such as "allocated".
[[nodiscard]] std::string_view TopAllocatorsVerb(const TopAllocators& top);

// Returns what made a test do so much, by call site: the first `shown` with their stacks.
//
//   allocated when the test was repeated alone: 41.2 MiB in 5012 blocks
//   39.8 MiB in 5000 blocks
//   > net::Parser::Read()  src/net/parser.cc:88
//   1.4 MiB in 12 blocks by 2 more call sites
[[nodiscard]] std::string TopAllocatorsText(const TopAllocators& top, std::size_t shown,
                                            const TextStyle& style);

// Shortens `text` to `capacity` bytes: it keeps the beginning, which has the answer, and
// the last line, which has the remedy, with a note between them.
[[nodiscard]] std::string CutInTheMiddle(const std::string& text, std::size_t capacity);

}  // namespace leakgate
