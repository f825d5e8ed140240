// A leakgate that was built without the profiler (LEAKGATE_PROFILER) judges as any other.
#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string GateAlone() { return LeakgatePath() + "_gate_alone"; }

CommandResult RunBy(const std::string& leakgate, std::vector<std::string> options,
                    const std::string& program) {
  std::vector<std::string> command = {leakgate, "run", "--confirm-wait=0.05"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--", FixturePath(program)});
  return RunCommand(command);
}

// The verdict of each window, what it left, and where most of it is from.
std::string VerdictsBy(const std::string& leakgate, const std::string& program) {
  const TemporaryDirectory directory;
  const std::string report = directory.File("report.json");
  EXPECT_EQ(RunBy(leakgate, {"--report", "json=" + report}, program).exit_code, 1);
  std::string verdicts;
  const nlohmann::json written = nlohmann::json::parse(ReadFile(report));
  for (const auto& window : written["windows"]) {
    verdicts += window["name"].get<std::string>() + ": " + window["verdict"].get<std::string>() +
                ", " + window["outstanding"].dump() + "\n";
  }
  return verdicts;
}

TEST(GateAloneTest, JudgesTheSameTests) {
  for (const std::string program : {"kinds_untouched", "kinds_listener", "fates_untouched"}) {
    const std::string alone = VerdictsBy(GateAlone(), program);

    EXPECT_EQ(alone, VerdictsBy(LeakgatePath(), program)) << program;
    EXPECT_THAT(alone, HasSubstr(": over_budget, "));
  }
}

TEST(GateAloneTest, HasNoCommandAndNoOptionOfTheProfilers) {
  const CommandResult help = RunCommand({GateAlone(), "--help"});
  EXPECT_THAT(help.standard_output, HasSubstr("leakgate run"));
  EXPECT_THAT(help.standard_output, Not(HasSubstr("snapshot")));

  EXPECT_EQ(RunCommand({GateAlone(), "snapshot", "show", "a"}).exit_code, 2);
  EXPECT_EQ(RunBy(GateAlone(), {"--snapshots", "a"}, "kinds_untouched").exit_code, 2);
}

TEST(GateAloneTest, SaysWhyItTellsNotWhoAllocatesTooMuch) {
  const TemporaryDirectory directory;
  std::ofstream(directory.File("activity.leakgate.json"))
      << R"({"component": "activity", "limits": {"test": {"temporary": {"blocks": 0}}}})";

  const CommandResult result =
      RunBy(GateAlone(), {"--budgets", directory.path()}, "activity_untouched");

  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(
      result.standard_error,
      HasSubstr("who allocated it is not known: this leakgate was built without the profiler"));
}

TEST(GateAloneTest, RefusesSnapshotsOfTheProgramsCodeWithTheReason) {
  const TemporaryDirectory directory;
  const CommandResult result =
      RunCommand({GateAlone(), "run", "--", FixturePath("measuring_plain"), directory.File("a")});

  EXPECT_THAT(result.standard_output + result.standard_error,
              HasSubstr("this leakgate was built without the profiler"));
}

}  // namespace
}  // namespace leakgate::test
