#include "runner/cli/help_text.h"

namespace leakgate {

std::string HelpText() {
  return R"(leakgate: a leak gate for GoogleTest suites

Usage:
  leakgate run [OPTIONS] -- BINARY [ARGS...]
  leakgate doctor BINARY
  leakgate explain TEST [--budgets FILE|DIR] [-- BINARY [ARGS...]]
  leakgate budget schema|check|init|ratchet ...
  leakgate merge [OPTIONS] RESULT...
  leakgate history add|show|trend DB ...
  leakgate framework

Commands:
  run          Run a test binary, and fail each test that leaves more memory
               allocated than its budget allows
  doctor       Tell whether a test binary can be gated here, and if not what to
               do
  explain      Tell which budget applies to a test, and why
  budget       Write, check and tighten budget files
  merge        Make one result of many: shards, repeats, jobs
  history      Keep results over time, and show trends
  framework    Show what is counted as the test framework's own memory

Options:
  -h, --help   This text; after a command, that command's
  --version    The version, and how it was built

Example:
  leakgate run --report json=leaks.json -- ./net_test --gtest_filter='Http*'
)";
}

std::string RunHelpText() {
  return R"(Run a test binary, and fail each test that leaves more memory allocated than
its budget allows. The binary needs no rebuild; its input, output, arguments
and signals are its own. Of any other program the whole run is one window.

Usage:
  leakgate run [OPTIONS] -- BINARY [ARGS...]

Options:
  --budgets FILE|DIR     Read a budget file, or all *.leakgate.json below a
                         directory. Where none limits what a test may leave
                         outstanding, it fails for what is lost, and for what
                         is retained and grows when the test is repeated.
                         Repeatable
  --confirm=WHEN         When to repeat tests that retain memory: after the
                         program has ended (default), inline (while the test
                         waits), or off
  --confirm-test-timeout SECONDS
                         For the repetitions of one test. Default: 60
  --confirm-run-timeout SECONDS
                         For those of all tests. Default: 300
  --strict               What is unconfirmed, and an allowance that nothing
                         used, fail the run
  --warn-only            Report, and fail nothing
  --report FORMAT=FILE   Write a report. Formats: json, junit, sarif, github,
                         gitlab, markdown, folded, pprof, speedscope, html.
                         Repeatable.
                         FILE may hold {pid}, {binary}, {shard}, {outputs} and
                         {env:NAME}, so that many jobs write apart
  --baseline REPORT      Fail only for what this earlier JSON report, of one run
                         or merged, has not. What it has is counted as known
  --timeout SECONDS      After so long, end the program and all that it started.
                         Fractions are allowed: 0.5
  --stack-depth FRAMES   Record at most so many frames of a stack, 1 to 1024.
                         Default: 256. A stack that is cut says so
  --skip-exit-code CODE  Exit with CODE, 4 to 127, instead of 0 if no test ran,
                         or all that did were skipped: 77 for CTest's
                         SKIP_RETURN_CODE, Meson and Automake. A program that
                         itself exits with CODE has failed: 1
  --ctest-measurements   Print on standard output what was outstanding, as
                         CTest's measurements, which it passes on to CDash
  -q, --quiet            Of the summary, only what is not a pass; nothing if all
                         pass. Errors are told anyway
  -v, --verbose          Also what passed and by what evidence (replaced, freed
                         later, one-time ...), and the slowest and the heaviest
                         tests. Without it, those that stand out
  -h, --help             This text

Exit code: the program's own if that is not 0 (128+n for signal n), else
  0   every window is within its budget; unconfirmed ones are reported
  1   a window is over budget
  2   bad command line or budget file, or no such program
  3   inconclusive: refused, not measured in full, or timed out
)";
}

std::string DoctorHelpText() {
  return R"(Tell whether a test binary can be gated here, and if not what to do. None of its
code runs: it is started suspended, and ended before its first instruction.

Usage:
  leakgate doctor BINARY
  leakgate doctor -- BINARY [ARGS...]

Each line is of one thing:
  ok     as it should be
  warn   it can be gated, but a report will say less
  no     it cannot be gated

Options:
  -h, --help   This text

Exit code:
  0   it can be gated
  2   bad command line, or no such program
  3   it cannot be gated
)";
}

}  // namespace leakgate
