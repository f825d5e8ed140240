#include "runner/cli/result_help.h"

namespace leakgate {

std::string MergeHelpText() {
  return R"(Make one result of many: of shards, of repeats, of jobs on other machines.
The order in which they are named does not matter, and a run that is given
twice, or again inside a merged report, counts once.

Usage:
  leakgate merge [OPTIONS] RESULT...

A RESULT is a JSON report of leakgate run or of leakgate merge, or a directory:
all such reports (*.json) below it.

Options:
  -o, --output FILE      Write the merged report; as --report json=FILE
  --report FORMAT=FILE   Write a report of all runs, in a format of leakgate
                         run's. Repeatable
  --expect N             Inconclusive if there are fewer than N runs. What
                         GTEST_TOTAL_SHARDS told of each run is checked anyway
  -h, --help             This text

Exit code:
  0   no run failed, and all that was expected is there
  1   a run failed: a window is over budget, or its program failed. With
      --warn-only a run fails for its program only
  2   bad command line, or a result that cannot be read; nothing is written
  3   inconclusive: a run was, or a shard is missing, or there is no run
)";
}

std::string HistoryHelpText() {
  return R"(Keep results over time in an SQLite file: what was outstanding at which
commit, when each finding was first seen, which tests are flaky.

Usage:
  leakgate history add DB RESULT... [--commit SHA] [--time TIME]
  leakgate history show DB [--component NAME] [--test NAME] [--json]
  leakgate history trend DB [--component|--test|--call-site] [--json]

A RESULT is as of leakgate merge. One that DB has already is left alone, so that
adding it again does no harm. DB is made where there is none.

Options:
  --commit SHA       What was tested. Default: not known
  --time TIME        When, as 2026-01-31T12:00:00Z. Default: now
  --component NAME   Only findings of this component; of trend, by component
                     (default)
  --test NAME        Only those of this test; of trend, by test
  --call-site        Of trend: by call site
  --json             For machines
  -h, --help         This text

Exit code: 0; 2 for a bad command line, result or file
)";
}

}  // namespace leakgate
