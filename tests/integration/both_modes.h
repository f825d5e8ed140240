// Runs fixtures in both boundary modes, and takes what the report says of a
// test apart into values that compare and print.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/leakgate_run.h"

namespace leakgate::test {

// The user's outstanding blocks of one finding.
struct Leak {
  long bytes = 0;
  long blocks = 0;
  std::string kind;
  std::string function;  // the first user frame's
  std::string place;     // "kinds.cpp:25", of the same

  bool operator==(const Leak&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Leak& leak) {
  return out << "\n    {" << leak.bytes << " B in " << leak.blocks << ", " << leak.kind << ", "
             << leak.function << ", " << leak.place << "}";
}

// What was said of one window.
struct Outcome {
  std::string verdict;
  long bytes = 0;
  long blocks = 0;
  std::vector<Leak> leaks;  // largest first

  bool operator==(const Outcome&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  out << outcome.verdict << ": " << outcome.bytes << " B in " << outcome.blocks;
  for (const Leak& leak : outcome.leaks) out << leak;
  return out;
}

inline Outcome With(const std::string& verdict, const std::vector<Leak>& leaks) {
  Outcome outcome{verdict, 0, 0, leaks};
  for (const Leak& leak : leaks) {
    outcome.bytes += leak.bytes;
    outcome.blocks += leak.blocks;
  }
  return outcome;
}

inline Outcome Pass() { return With("pass", {}); }
inline Outcome OverBudget(const std::vector<Leak>& leaks) { return With("over_budget", leaks); }
// As suites and child processes are without a budget.
inline Outcome Reported(const std::vector<Leak>& leaks) { return With("not_gated", leaks); }

inline Leak LeakFrom(const nlohmann::json& finding) {
  Leak leak{finding["bytes"], finding["blocks"], finding["kind"], "", ""};
  if (finding["user_frame"].is_null()) return leak;
  const nlohmann::json& frame = finding["stack"][finding["user_frame"].get<std::size_t>()];
  leak.function = frame["function"];
  leak.place = std::filesystem::path(frame["file"].get<std::string>()).filename().string() + ":" +
               std::to_string(frame["line"].get<int>());
  return leak;
}

// No verdict: there is no such window.
inline Outcome OutcomeOf(const nlohmann::json& window) {
  if (window.is_null()) return {};
  Outcome outcome{
      window["verdict"], window["outstanding"]["bytes"], window["outstanding"]["blocks"], {}};
  for (const nlohmann::json& finding : window["findings"]) {
    if (!finding.contains("framework_rule")) outcome.leaks.push_back(LeakFrom(finding));
  }
  return outcome;
}

// "kinds.cpp:25": the line that ends in `// LEAK: marker`.
inline std::string PlaceOf(const std::string& source, const std::string& marker) {
  std::ifstream file(std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/" + source);
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (!text.ends_with("// LEAK: " + marker)) continue;
    return std::filesystem::path(source).filename().string() + ":" + std::to_string(line);
  }
  throw std::runtime_error(source + " has no line marked LEAK: " + marker);
}

// The parameter: "untouched" or "listener".
class BothModes : public testing::TestWithParam<std::string> {
 protected:
  static bool IsListener() { return GetParam() == "listener"; }
  static std::string Fixture(const std::string& name) {
    return FixturePath(name + "_" + GetParam());
  }
  // The tests that `filter` names. Those without options of their own share the run.
  static const GatedRun& RunTests(const std::string& fixture, const std::string& filter = "*") {
    return SharedGatedRun({Fixture(fixture), "--gtest_filter=" + filter});
  }
  static GatedRun RunTests(const std::string& fixture, const std::string& filter,
                           const std::vector<std::string>& options) {
    return RunGated({Fixture(fixture), "--gtest_filter=" + filter}, options);
  }
  // Of `test` in the run of all the fixture's tests.
  static Outcome OutcomeOfTest(const std::string& fixture, const std::string& test) {
    return OutcomeOf(RunTests(fixture).Test(test));
  }
};

#define LEAKGATE_IN_BOTH_MODES(suite)                             \
  INSTANTIATE_TEST_SUITE_P(                                       \
      BothModes, suite, testing::Values("untouched", "listener"), \
      [](const testing::TestParamInfo<std::string>& mode) { return mode.param; })

}  // namespace leakgate::test
