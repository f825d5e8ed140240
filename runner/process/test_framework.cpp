#include "runner/process/test_framework.h"

namespace leakgate {

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
