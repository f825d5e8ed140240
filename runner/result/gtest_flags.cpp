#include "runner/result/gtest_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <iterator>

namespace leakgate {
namespace {

bool AnyStartsWith(const std::vector<std::string>& texts, std::string_view prefix) {
  return std::any_of(texts.begin(), texts.end(),
                     [prefix](const std::string& text) { return text.starts_with(prefix); });
}

bool AnyContains(const std::vector<std::string>& texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(), [part](const std::string& text) {
    return text.find(part) != std::string::npos;
  });
}

std::optional<std::string> ValueAfter(const std::vector<std::string>& texts,
                                      std::string_view prefix) {
  std::optional<std::string> value;
  for (const std::string& text : texts) {
    if (text.starts_with(prefix)) value = text.substr(prefix.size());  // the last one counts
  }
  return value;
}

std::optional<int> NumberOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (!variable.starts_with(name)) continue;
    int number = 0;
    const char* const end = variable.data() + variable.size();
    const auto [rest, error] = std::from_chars(variable.data() + name.size(), end, number);
    if (error == std::errc() && rest == end) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

// Variables of test runners. If inherited, they would select no test, and the user's XML would be
// overwritten.
constexpr std::array<std::string_view, 5> kRunnerPrefixes = {
    "TEST_", "TESTBRIDGE_", "XML_OUTPUT_FILE=", "GTEST_TOTAL_SHARDS=", "GTEST_SHARD_"};

// GoogleTest's flags that choose, repeat, order or report tests, or end the run.
constexpr std::array<std::string_view, 12> kFlags = {
    "filter",     "repeat",           "shuffle",          "random_seed", "output",
    "list_tests", "stream_result_to", "break_on_failure", "fail_fast",   "flagfile",
    "brief",      "throw_on_failure"};

bool IsKnownFlag(std::string_view flag) {
  return std::find(kFlags.begin(), kFlags.end(), flag) != kFlags.end();
}

// "--gtest_filter=..."; GoogleTest takes one dash, two, or a slash.
bool IsTestSelection(std::string_view argument) {
  for (const std::string_view prefix : {"--gtest_", "-gtest_", "/gtest_"}) {
    if (!argument.starts_with(prefix)) continue;
    argument.remove_prefix(prefix.size());
    return IsKnownFlag(argument.substr(0, argument.find('=')));
  }
  return false;
}

// "GTEST_FILTER=..." for the flag "filter".
bool SetsFlag(std::string_view variable) {
  constexpr std::string_view kPrefix = "GTEST_";
  if (!variable.starts_with(kPrefix)) return false;
  std::string flag(variable.substr(kPrefix.size(), variable.find('=') - kPrefix.size()));
  std::transform(flag.begin(), flag.end(), flag.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return IsKnownFlag(flag);
}

bool IsOfRunner(std::string_view variable) {
  return std::any_of(kRunnerPrefixes.begin(), kRunnerPrefixes.end(),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

}  // namespace

bool RunsAllTests(const std::vector<std::string>& arguments) {
  return !AnyContains(arguments, "gtest_filter") && !AnyContains(arguments, "gtest_flagfile") &&
         std::getenv("GTEST_FILTER") == nullptr && std::getenv("GTEST_TOTAL_SHARDS") == nullptr;
}

std::vector<std::string> SelectionIn(const std::vector<std::string>& arguments) {
  std::vector<std::string> selection;
  for (const std::string& argument : arguments) {
    const std::string_view flag = std::string_view(argument).substr(
        std::min(argument.find_first_not_of('-'), argument.size()));
    if (flag.starts_with("gtest_filter=") || flag.starts_with("gtest_also_run_disabled_tests")) {
      selection.push_back(argument);
    }
  }
  return selection;
}

std::string FilterGiven(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment) {
  const auto last = [](const std::vector<std::string>& texts, std::string_view part) {
    const auto found = std::find_if(texts.rbegin(), texts.rend(), [&](const std::string& text) {
      const std::size_t at = text.find(part);
      return at != std::string::npos && text.find_first_not_of("-/") == at;
    });
    return found != texts.rend() ? *found : std::string();
  };
  const std::string argument = last(arguments, "gtest_filter=");
  return argument.empty() ? last(environment, "GTEST_FILTER=") : argument;
}

std::optional<Shard> ShardOf(const std::vector<std::string>& environment) {
  const std::optional<int> total = NumberOf(environment, "GTEST_TOTAL_SHARDS=");
  const std::optional<int> index = NumberOf(environment, "GTEST_SHARD_INDEX=");
  if (!total || !index || *index < 0 || *index >= *total) return std::nullopt;
  return Shard{*index, *total};
}

// The last one counts. GoogleTest takes what begins so for "no".
bool ListsTests(const std::vector<std::string>& arguments) {
  const std::optional<std::string> value = ValueAfter(arguments, kListTestsFlag);
  return value && (value->empty() || (value->front() == '=' && value->find_first_of("0fF") != 1));
}

bool IsDeathTest(const std::vector<std::string>& arguments) {
  return AnyStartsWith(arguments, kDeathTestFlag);
}

bool AsksForNoTest(const std::vector<std::string>& arguments) {
  return ListsTests(arguments) ||
         std::find(arguments.begin(), arguments.end(), "--help") != arguments.end();
}

bool MayRepeatTests(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment) {
  return AnyStartsWith(arguments, "--gtest_repeat") ||
         AnyStartsWith(arguments, "--gtest_flagfile") ||
         AnyStartsWith(environment, "GTEST_REPEAT=");
}

bool SendsStream(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment) {
  return AnyStartsWith(arguments, "--gtest_stream_result_to=") ||
         AnyStartsWith(environment, "GTEST_STREAM_RESULT_TO=");
}

std::optional<std::string> OutputOf(const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment) {
  std::optional<std::string> output = ValueAfter(arguments, kOutputFlag);
  if (!output) output = ValueAfter(environment, "GTEST_OUTPUT=");
  if (output) return output;
  const std::optional<std::string> bazel = ValueAfter(environment, "XML_OUTPUT_FILE=");
  return bazel ? std::optional("xml:" + *bazel) : std::nullopt;
}

std::vector<std::string> WithoutTestVariables(std::vector<std::string> environment) {
  std::erase_if(environment, [](const std::string& variable) {
    return SetsFlag(variable) || IsOfRunner(variable);
  });
  return environment;
}

std::string FilterFor(const std::vector<std::string>& tests) {
  std::string filter;
  for (const std::string& test : tests) {
    if (!filter.empty()) filter += ':';
    std::transform(test.begin(), test.end(), std::back_inserter(filter), [](char letter) {
      return letter == ':' || letter == '-' || letter == '*' ? '?' : letter;
    });
  }
  return filter;
}

std::vector<std::string> WithoutTestSelection(std::vector<std::string> arguments) {
  std::erase_if(arguments, IsTestSelection);
  return arguments;
}

std::vector<std::string> VariablesToRun(const std::vector<std::string>& tests, int repetitions) {
  const std::string filter = FilterFor(tests);
  std::vector<std::string> variables = {"GTEST_FILTER=" + filter};
  if (filter.find("DISABLED_") != std::string::npos) {
    variables.emplace_back("GTEST_ALSO_RUN_DISABLED_TESTS=1");
  }
  variables.push_back(fmt::format("GTEST_REPEAT={}", repetitions));
  return variables;
}

}  // namespace leakgate
