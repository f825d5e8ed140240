// The patterns of call stacks that messages and `budget init` propose. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/result/finding.h"

namespace leakgate {

// Returns a pattern that matches the finding's call site and is no wider than a function: the
// function's name or, if that is not known or is that of any lambda, its module or name and the
// next function outwards that is known. Empty if no function is known. If main is the only frame of
// the user's, the pattern is main, which calls all tests: see IsOfEveryTest.
[[nodiscard]] std::vector<std::string> SuggestPattern(const Finding& finding);

// Returns whether the pattern that is suggested for `finding` names no function of the user's but
// main: only main itself, or one of a library of the system. It would match blocks of other tests,
// too, and must be restricted to the finding's own.
[[nodiscard]] bool IsOfEveryTest(const Finding& finding);

}  // namespace leakgate
