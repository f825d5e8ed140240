// Programs whose malloc and operator new are reached in unusual ways.
#include <gmock/gmock.h>

#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

nlohmann::json FindingOf(const nlohmann::json& window, int bytes) {
  for (const nlohmann::json& finding : window["findings"]) {
    if (finding["bytes"] == bytes) return finding;
  }
  return nullptr;
}

TEST(LateRuntimeTest, TracesNewInAProgramThatLoadsTheCppRuntimeLater) {
  const GatedRun run =
      RunGated({FixturePath("late_runtime"), FixturePath("late_runtime_plugin.so")});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_EQ(run.command.standard_output, "done\n");
  EXPECT_EQ(FindingOf(run.Window("program", "late_runtime"), 123)["kind"], "new[]");
}

TEST(LateRuntimeTest, TracesAProgramThatKeepsMallocsAddress) {
  const GatedRun run = RunGated({FixturePath("malloc_by_address")});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_EQ(FindingOf(run.Window("program", "malloc_by_address"), 321)["kind"], "malloc");
}

}  // namespace
}  // namespace leakgate::test
