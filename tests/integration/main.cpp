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

// As a filter. A suite's tests are all in one file.
std::string SuitesOfFile(const std::string& file) {
  std::string suites;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    const bool is_of_file = std::string(suite.GetTestInfo(0)->file()).ends_with("/" + file);
    if (is_of_file) suites += std::string(suite.name()) + ".*:";
  }
  return suites;
}

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleMock(&count, arguments);
  testing::AddGlobalTestEnvironment(new SharedRuns);
  const std::string option = count > 1 ? arguments[1] : "";
  if (!option.starts_with("--file=")) return RUN_ALL_TESTS();

  const std::string suites = SuitesOfFile(option.substr(7));
  if (suites.empty()) {
    std::cerr << "no test is in " << option.substr(7) << "\n";
    return 2;
  }
  // What --gtest_filter leaves out stays out.
  const std::string filter = testing::GTEST_FLAG(filter);
  const std::size_t but = filter.find('-');
  testing::GTEST_FLAG(filter) = suites + (but == std::string::npos ? "" : filter.substr(but));
  return RUN_ALL_TESTS();
}
