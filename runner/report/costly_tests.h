// Which tests cost most: time, and memory at their peak. Pure.
#pragma once

#include <string>

#include "runner/report/run_result.h"

namespace leakgate {

// "slowest: Db.Compaction 41.2 s, Db.Recovery 12.1 s (87 % of all tests' time)". Only
// of a suite that is too large to look through, and only the few tests that stand out:
// that take half the time, a second or more. Empty otherwise. No trailing newline.
[[nodiscard]] std::string SlowestThatStandOut(const RunResult& result);

// "heaviest: Db.Compaction 1.2 GiB at its peak". Likewise: by far more memory than the
// usual test of the suite, 16 MiB or more.
[[nodiscard]] std::string HeaviestThatStandOut(const RunResult& result);

// The same two lists, of any suite with a test, for who asks: up to ten tests.
[[nodiscard]] std::string Slowest(const RunResult& result);
[[nodiscard]] std::string Heaviest(const RunResult& result);

}  // namespace leakgate
