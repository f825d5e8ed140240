#include "runner/process/test_framework.h"

namespace leakgate {
namespace {

constexpr std::string_view kGoogleTestMark = "stream_result_to";  // a flag of every GoogleTest
constexpr std::string_view kListenerMark = "leakgate-listener-1";

// A framework whose tests only a header of leakgate's tells apart.
struct HeaderFramework {
  TestFramework framework;
  std::string_view mark;           // a message of every version of it
  std::string_view library;        // the beginning of its shared library's name
  std::string_view listener_mark;  // in the header
};
constexpr HeaderFramework kHeaderFrameworks[] = {
    {TestFramework::kCatch2, "{Unknown expression after the reported line}", "libCatch2",
     "leakgate-listener-1 Catch2"},
    {TestFramework::kDoctest, "doctest version is \"", "libdoctest", "leakgate-listener-1 doctest"},
    {TestFramework::kBoostTest, "BOOST_TEST_BUILD_INFO", "libboost_unit_test_framework",
     "leakgate-listener-1 Boost.Test"},
};

}  // namespace

// Listeners have the last word: a file may contain more than one framework.
LinkedFramework FindFramework(const FileContents& file) {
  const bool has_listener = file.has_constant(kListenerMark);
  for (const HeaderFramework& known : kHeaderFrameworks) {
    if (has_listener && file.has_constant(known.listener_mark)) return {known.framework, true};
  }
  if (file.needs_library("libgtest") || file.has_constant(kGoogleTestMark)) {
    return {TestFramework::kGoogleTest, has_listener};
  }
  for (const HeaderFramework& known : kHeaderFrameworks) {
    const bool is_there = file.needs_library(known.library) || file.has_constant(known.mark);
    if (is_there) return {known.framework, false};
  }
  return {};
}

std::string_view NameOf(TestFramework framework) {
  switch (framework) {
    case TestFramework::kGoogleTest:
      return "GoogleTest";
    case TestFramework::kCatch2:
      return "Catch2";
    case TestFramework::kDoctest:
      return "doctest";
    case TestFramework::kBoostTest:
      return "Boost.Test";
    case TestFramework::kNone:
      break;
  }
  return "";
}

std::string_view HeaderFor(TestFramework framework) {
  switch (framework) {
    case TestFramework::kCatch2:
      return "leakgate/catch2.h";
    case TestFramework::kDoctest:
      return "leakgate/doctest.h";
    case TestFramework::kBoostTest:
      return "leakgate/boost_test.h";
    case TestFramework::kGoogleTest:
    case TestFramework::kNone:
      break;
  }
  return "";
}

}  // namespace leakgate
