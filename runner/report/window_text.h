// Names windows, and says in words how a run ended: the counts of verdicts, and the program's exit.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/report/style.h"
#include "runner/result/run_result.h"

namespace leakgate {

// Returns "exited with 1", "was killed by signal 11 (SIGSEGV)". Signals are numbered as on Linux.
[[nodiscard]] std::string ProgramExitText(const ProgramExit& program);

// Returns "pass", "over budget", "inconclusive", "not gated".
[[nodiscard]] std::string_view VerdictWords(Verdict verdict);

// Returns `text` in the colour that tests of that verdict are counted in.
[[nodiscard]] std::string PaintVerdict(const std::string& text, Verdict verdict, Colour colour);

// Returns "214 tests: 211 pass, 2 over budget": the verdicts of the tests, then those of suites
// and of the program that are not a pass. It says so when no test ran and when there were no test
// boundaries; an inconclusive run never reads as a pass.
[[nodiscard]] std::string CountsText(const RunResult& result, Colour colour);

// Returns how text names a window, without its iteration: "HttpTest.KeepAlive", "suite HttpTest",
// "program http_test", "process server of HttpTest.KeepAlive". It is not made printable.
[[nodiscard]] std::string PlainWindowName(const WindowResult& window);

// Returns the same with the iteration, if it is a later one: "HttpTest.KeepAlive #2".
[[nodiscard]] std::string WindowName(const WindowResult& window);

// Returns the first few of many names: "A.B, C.D, E.F and 2 more".
[[nodiscard]] std::string FirstNames(const std::vector<std::string>& names);
// The same where only the first of `count` names are at hand.
[[nodiscard]] std::string FirstNames(const std::vector<std::string>& names, std::int64_t count);

}  // namespace leakgate
