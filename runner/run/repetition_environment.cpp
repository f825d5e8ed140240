#include "runner/run/repetition_environment.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>

namespace leakgate {
namespace {

// Of test runners. Inherited, they ran no test at all and wrote over the user's XML.
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

std::vector<std::string> WithoutTestVariables(std::vector<std::string> environment) {
  std::erase_if(environment, [](const std::string& variable) {
    return SetsFlag(variable) || IsOfRunner(variable);
  });
  return environment;
}

std::vector<std::string> WithoutTestSelection(std::vector<std::string> arguments) {
  std::erase_if(arguments, IsTestSelection);
  return arguments;
}

ScratchDirectory ScratchDirectory::BesideTestTmpdir() {
  const char* const parent = std::getenv("TEST_TMPDIR");
  if (parent == nullptr || *parent == '\0') return ScratchDirectory({});
  std::string path = std::string(parent) + "/leakgate-XXXXXX";
  return ScratchDirectory(::mkdtemp(path.data()) != nullptr ? path : std::string());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace leakgate
