// Runs the tests; with --file=NAME those of one source file, in one process: they share the runs
// of leakgate that they look at. CTest runs each file so.
#include <gmock/gmock.h>

#include <iostream>
#include <string>

#include "tests/support/leakgate_run.h"

namespace {

// With --gtest_repeat, each repetition makes the runs anew.
class SharedRuns : public testing::Environment {
  void TearDown() override { leakgate::test::ForgetSharedRuns(); }
};

std::string TestsOfFile(const std::string& file) {
  std::string tests;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (!std::string(test.file()).ends_with("/" + file)) continue;
      tests += std::string(":") + suite.name() + "." + test.name();
    }
  }
  return tests;
}

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleMock(&count, arguments);
  testing::AddGlobalTestEnvironment(new SharedRuns);
  const std::string option = count > 1 ? arguments[1] : "";
  if (!option.starts_with("--file=")) return RUN_ALL_TESTS();

  const std::string tests = TestsOfFile(option.substr(7));
  if (tests.empty()) {
    std::cerr << "no test is in " << option.substr(7) << "\n";
    return 2;
  }
  // What --gtest_filter leaves out stays out.
  const std::string filter = testing::GTEST_FLAG(filter);
  const std::size_t but = filter.find('-');
  testing::GTEST_FLAG(filter) =
      tests.substr(1) + (but == std::string::npos ? "" : filter.substr(but));
  return RUN_ALL_TESTS();
}
