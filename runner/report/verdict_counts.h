// How the program under test ended, in words. The numbers are Linux's.
#pragma once

#include <string>

#include "runner/report/style.h"
#include "runner/result/run_result.h"

namespace leakgate {

// "exited with 1", "was killed by signal 11 (SIGSEGV)".
[[nodiscard]] std::string ProgramExitText(const ProgramExit& program);

// The answer of a run, counted: "214 tests: 211 pass, 2 over budget". Pure.

// "pass", "over budget", "inconclusive", "not gated".
[[nodiscard]] std::string_view VerdictWords(Verdict verdict);

// `text` in the colour that tests of that verdict are counted in.
[[nodiscard]] std::string PaintVerdict(const std::string& text, Verdict verdict, Colour colour);

// The verdicts of the tests, then those of suites and of the program that are
// not a pass. Says so when no test ran and when there were no test boundaries;
// an inconclusive run never reads as a pass.
[[nodiscard]] std::string CountsText(const RunResult& result, Colour colour);

}  // namespace leakgate
