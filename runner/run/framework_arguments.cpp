#include "runner/run/framework_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "runner/result/gtest_flags.h"

namespace leakgate {
namespace {

// Options by which a framework writes a report to a file: the user's report must not be replaced.
// Each may have its value behind '=' or, in Catch2 and Boost.Test, as the next argument.
constexpr std::string_view kOfCatch2[] = {"-o", "--out", "-r", "--reporter"};
constexpr std::string_view kOfDoctest[] = {"-o",    "--o",    "-out",    "--out",
                                           "-dt-o", "--dt-o", "-dt-out", "--dt-out"};
// By these Boost.Test also chooses tests, which the header does by other means.
constexpr std::string_view kOfBoostTest[] = {
    "-k", "--log_sink", "-e", "--report_sink", "-Z", "--logger", "-t", "--run_test",
};
// The same as variables.
constexpr std::string_view kVariablesOfBoostTest[] = {
    "BOOST_TEST_LOG_SINK=", "BOOST_TEST_REPORT_SINK=", "BOOST_TEST_LOGGER=",
    "BOOST_TEST_RUN_FILTERS="};

std::span<const std::string_view> ReportOptionsOf(TestFramework framework) {
  switch (framework) {
    case TestFramework::kCatch2:
      return kOfCatch2;
    case TestFramework::kDoctest:
      return kOfDoctest;
    case TestFramework::kBoostTest:
      return kOfBoostTest;
    case TestFramework::kGoogleTest:
    case TestFramework::kNone:
      break;
  }
  return {};
}

bool HasHeader(LinkedFramework linked) {
  return linked.has_listener && linked.framework != TestFramework::kGoogleTest;
}

}  // namespace

std::vector<std::string> ArgumentsToRepeat(LinkedFramework linked,
                                           std::vector<std::string> arguments) {
  if (!HasHeader(linked)) return WithoutTestSelection(std::move(arguments));
  const std::span<const std::string_view> reports = ReportOptionsOf(linked.framework);
  std::vector<std::string> kept;
  bool is_value = false;
  for (std::string& argument : arguments) {
    const std::size_t equals = argument.find_first_of("=:");
    const std::string_view option = std::string_view(argument).substr(0, equals);
    const bool is_report = std::find(reports.begin(), reports.end(), option) != reports.end();
    if (!is_value && !is_report) kept.push_back(std::move(argument));
    is_value = !is_value && is_report && equals == std::string::npos;
  }
  return kept;
}

std::vector<std::string> EnvironmentToRepeat(LinkedFramework linked,
                                             std::vector<std::string> environment,
                                             const std::vector<std::string>& tests,
                                             int repetitions) {
  environment = WithoutTestVariables(std::move(environment));
  std::erase_if(environment, [](const std::string& variable) {
    return std::any_of(std::begin(kVariablesOfBoostTest), std::end(kVariablesOfBoostTest),
                       [&](std::string_view name) { return variable.starts_with(name); });
  });
  if (HasHeader(linked)) {
    environment.push_back(fmt::format("LEAKGATE_TESTS={}", fmt::join(tests, "\n")));
    environment.push_back(fmt::format("LEAKGATE_REPEAT={}", repetitions));
    return environment;
  }
  std::vector<std::string> variables = VariablesToRun(tests, repetitions);
  std::move(variables.begin(), variables.end(), std::back_inserter(environment));
  return environment;
}

}  // namespace leakgate
