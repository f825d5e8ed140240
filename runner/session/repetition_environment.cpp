// WithoutTestVariables and WithoutTestSelection of repetition.h.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "runner/session/repetition.h"

namespace leakgate {
namespace {

// Inherited, they ran no test at all and wrote over the user's XML.
constexpr std::array<std::string_view, 4> kPrefixes = {"GTEST_", "TEST_", "TESTBRIDGE_",
                                                       "XML_OUTPUT_FILE="};

constexpr std::array<std::string_view, 12> kFlags = {
    "filter",     "repeat",           "shuffle",          "random_seed", "output",
    "list_tests", "stream_result_to", "break_on_failure", "fail_fast",   "flagfile",
    "brief",      "throw_on_failure"};

bool IsTestSelection(std::string_view argument) {
  for (const std::string_view prefix : {"--gtest_", "-gtest_", "/gtest_"}) {
    if (!argument.starts_with(prefix)) continue;
    const std::string_view flag = argument.substr(prefix.size());
    return std::any_of(kFlags.begin(), kFlags.end(), [flag](std::string_view known) {
      return flag == known || (flag.starts_with(known) && flag[known.size()] == '=');
    });
  }
  return false;
}

}  // namespace

std::vector<std::string> WithoutTestVariables(std::vector<std::string> environment) {
  std::erase_if(environment, [](const std::string& variable) {
    return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                       [&](std::string_view prefix) { return variable.starts_with(prefix); });
  });
  return environment;
}

std::vector<std::string> WithoutTestSelection(std::vector<std::string> arguments) {
  std::erase_if(arguments, IsTestSelection);
  return arguments;
}

}  // namespace leakgate
