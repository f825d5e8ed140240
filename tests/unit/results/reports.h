// Run reports to merge, small and as files.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runner/report/json/json_report.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate::merging {

// A run of one test that passes.
inline RunResult PassingRun(const std::string& binary = "build/http_test") {
  RunResult run;
  run.binary = binary;
  run.program.exit_code = 0;
  WindowResult window;
  window.name = "HttpTest.KeepAlive";
  window.status = TestStatus::kPassed;
  run.windows.push_back(window);
  return run;
}

// The same test, over budget.
inline RunResult FailingRun(const std::string& binary = "build/http_test") {
  RunResult run = PassingRun(binary);
  run.windows = {sample::FailingTest()};
  run.windows[0].name = "HttpTest.KeepAlive";
  run.verdict = Verdict::kOverBudget;
  run.exit_code = 1;
  return run;
}

inline std::string MergedText(const std::vector<RunResult>& runs) {
  std::ostringstream text;
  const ReportWriter writer = NewJsonWriter(text, runs.size());
  for (const RunResult& run : runs) writer.add(run);
  writer.finish();
  return text.str();
}

// A directory of its own for each test.
class ReportsTest : public testing::Test {
 protected:
  ReportsTest() {
    const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("leakgate_") + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~ReportsTest() override {
    std::error_code kept;  // on Windows, while an archive in it is open
    std::filesystem::remove_all(directory_, kept);
  }

  std::filesystem::path Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(directory_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  std::filesystem::path directory_;
};

}  // namespace leakgate::merging
