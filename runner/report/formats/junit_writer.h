// What JUnit's XML says of a run, case by case. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runner/report/formats/call_site.h"
#include "runner/result/run_result.h"

namespace leakgate {

enum class JunitOutcome { kPassed, kFailed, kError, kSkipped };

// What a test case's element says.
struct JunitCase {
  std::string suite;
  std::string name;
  FilePosition position;  // where the test is defined
  double seconds = 0;     // that it took; of a suite or the program 0: its tests have it
  JunitOutcome outcome = JunitOutcome::kPassed;
  std::string type;     // of a failure or an error: "leakgate.over_budget"
  std::string message;  // of the same, one line
  std::string text;     // likewise, as many as it takes
  std::string output;   // what the report says besides
  std::vector<std::pair<std::string, std::string>> properties;
};

// The cases of `run`, in its order: of each test; of suites and the program where there
// is something to tell; of what no window tells. If the run does not exit with 0, one of
// them is no success. Not made safe for XML.
[[nodiscard]] std::vector<JunitCase> JunitCases(const RunResult& run, const std::string& root);

}  // namespace leakgate
