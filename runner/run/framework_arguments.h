// How a program is started to repeat tests: with the user's arguments, but without those that
// choose, repeat or report tests, and with variables that name the tests and the number of
// repetitions. GoogleTest reads its own variables; leakgate's headers for other frameworks read
// LEAKGATE_TESTS and LEAKGATE_REPEAT (leakgate/test_framework.h). Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/process/test_framework.h"

namespace leakgate {

// Returns `arguments` without those by which the program would write or choose something else. The
// headers of other frameworks than GoogleTest choose tests themselves, once the program's own
// selection has begun a test.
[[nodiscard]] std::vector<std::string> ArgumentsToRepeat(LinkedFramework linked,
                                                         std::vector<std::string> arguments);

// Returns `environment` likewise, with the variables that ask for the repetitions.
[[nodiscard]] std::vector<std::string> EnvironmentToRepeat(LinkedFramework linked,
                                                           std::vector<std::string> environment,
                                                           const std::vector<std::string>& tests,
                                                           int repetitions);

}  // namespace leakgate
