#include "runner/cli/budget_help.h"

namespace leakgate {

std::string BudgetHelpText() {
  return R"(Write, check and tighten budget files.

Usage:
  leakgate budget schema
  leakgate budget check FILE|DIR... [-- BINARY [ARGS...]]
  leakgate budget init --component NAME [-o FILE] -- BINARY [ARGS...]
  leakgate budget ratchet [--check] --budgets FILE|DIR -- BINARY [ARGS...]

Commands:
  schema       Print the JSON Schema of budget files, for editors
  check        Say what is wrong with budget files
  init         Write a first budget file from a run
  ratchet      Tighten budget files to what a green run needs

Each command has a --help of its own. See also: leakgate explain --help
)";
}

std::string BudgetCheckHelpText() {
  return R"(Say what is wrong with budget files. With a binary, also hold them against its
tests: files that claim the same test, patterns that match none.

Usage:
  leakgate budget check FILE|DIR... [-- BINARY [ARGS...]]

A directory stands for all *.leakgate.json below it. The binary is only asked
for its tests.

Errors are bad files, conflicts and what has expired. Warnings are patterns that
match no test, and what expires within 30 days.

Exit code:
  0   no error
  2   an error
)";
}

std::string BudgetInitHelpText() {
  return R"(Run a test binary without a budget, and write a first budget file that allows
what made it fail: one allowance per call site.

Usage:
  leakgate budget init --component NAME [-o FILE] -- BINARY [ARGS...]

Options:
  --component NAME     Whose tests they are; reports show it
  -o, --output FILE    Default: NAME.leakgate.json. It must not exist yet
  -h, --help           This text

Exit code:
  0   the file was written
  2   bad command line, no such program, or the file exists
  3   the run was inconclusive: nothing was written
)";
}

std::string BudgetRatchetHelpText() {
  return R"(Run a test binary under its budget files. If all pass, tighten the files to what
the run needed: allowances and overrides become smaller, and those that nothing
used are removed. Nothing is ever loosened; every other byte stays.

Usage:
  leakgate budget ratchet [--check] --budgets FILE|DIR -- BINARY [ARGS...]

Options:
  --budgets FILE|DIR     As for leakgate run. Repeatable
  --check                Change nothing; fail if something could be tightened
  -h, --help             This text

A run of some of the tests (--gtest_filter, sharding) removes nothing.

Exit code: the run's own if it is not 0, and then nothing is changed; else
  0   tightened, or nothing to tighten
  1   --check: something could be tightened
  2   bad command line or budget file, or no such program
)";
}

std::string ExplainHelpText() {
  return R"(Tell which budget applies to a test, and why: the file, each limit with its
line and reason, overrides, allowances, and how the test is judged.

Usage:
  leakgate explain TEST [--budgets FILE|DIR] [-- BINARY [ARGS...]]

Options:
  --budgets FILE|DIR     As for leakgate run. Repeatable
  -h, --help             This text

TEST is the full name: Suite.Test. With the binary, which is only asked for its
tests, the source file of the test takes part in the choice.

Exit code:
  0   explained
  2   bad command line or budget file, no such test, or two files claim it
)";
}

}  // namespace leakgate
