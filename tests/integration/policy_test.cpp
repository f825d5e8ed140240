// What budget files may say beyond limits on outstanding: until when to free, whose
// threads, which code, which resources.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class PolicyTest : public BothModes {
 protected:
  GatedRun RunWithin(const std::string& fixture, const std::string& filter,
                     const std::string& budget) {
    const std::string file =
        directory_.Write("a.leakgate.json", "{\"component\": \"a\",\n" + budget + "}\n");
    return RunByDefault({Fixture(fixture), "--gtest_filter=" + filter}, {"--budgets", file});
  }
  std::string VerdictWithin(const std::string& test, const std::string& limits) {
    return RunWithin("policy", test, R"("limits": {"test": {)" + limits + "}}")
        .Test(test)["verdict"];
  }
  std::vector<std::string> MetricsOver(const std::string& test, const std::string& limits) {
    const nlohmann::json window =
        RunWithin("policy", test, R"("limits": {"test": {)" + limits + "}}").Test(test);
    std::vector<std::string> metrics;
    for (const nlohmann::json& violation : window["violations"]) {
      metrics.push_back(violation["metric"]);
    }
    return metrics;
  }
  TemporaryDirectory directory_;
};

constexpr const char* kNothing = R"("limits": {"test": {"outstanding": {"bytes": 0}}})";

TEST_P(PolicyTest, LiteralLimitFailsTheTestInsideGoogleTest) {
  const std::string xml = directory_.File("out.xml");
  const std::string file =
      directory_.Write("a.leakgate.json", std::string(R"({"component": "a", )") + kNothing + "}");
  const GatedRun run = RunByDefault(
      {Fixture("policy"), "--gtest_filter=Reach.KeepsInAGlobal", "--gtest_output=xml:" + xml},
      {"--budgets", file});

  EXPECT_EQ(run.Test("Reach.KeepsInAGlobal")["verdict"], "over_budget");
  EXPECT_THAT(ReadFile(xml), HasSubstr(IsListener() ? "failures=\"1\"" : "failures=\"0\""));
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST_P(PolicyTest, FreeBySuitePassesWhatItsTearDownFrees) {
  const nlohmann::json window =
      RunWithin("policy", "UntilSuite.*", std::string(R"("free_by": "suite", )") + kNothing)
          .Test("UntilSuite.Ends");

  EXPECT_EQ(window["verdict"], "pass");
  EXPECT_THAT(TextsOf(window, "disposition"), Contains("released_later"));
  EXPECT_THAT(TextsOf(window, "explanation"), Contains("freed by its suite's tear-down"));
}

TEST_P(PolicyTest, FreeByTestFailsWhatTheSuitesTearDownFrees) {
  EXPECT_EQ(RunWithin("policy", "UntilSuite.*", kNothing).Test("UntilSuite.Ends")["verdict"],
            "over_budget");
}

TEST_P(PolicyTest, FreeByProgramPassesWhatStaticDestructorsFree) {
  const nlohmann::json window = RunWithin("policy", "Until.TheProgramEnds",
                                          std::string(R"("free_by": "program", )") + kNothing)
                                    .Test("Until.TheProgramEnds");

  EXPECT_EQ(window["verdict"], "pass");
  EXPECT_THAT(TextsOf(window, "explanation"), Contains("freed by the program's end"));
}

TEST_P(PolicyTest, FreeBySuiteFailsWhatStaticDestructorsFree) {
  EXPECT_EQ(
      RunWithin("policy", "Until.TheProgramEnds", std::string(R"("free_by": "suite", )") + kNothing)
          .Test("Until.TheProgramEnds")["verdict"],
      "over_budget");
}

TEST_P(PolicyTest, LimitsThePeak) {
  EXPECT_THAT(MetricsOver("Resources.Peaks", R"("peak": {"bytes": "512 KiB"})"),
              Contains(HasSubstr("peak")));
  EXPECT_EQ(VerdictWithin("Resources.Peaks", R"("peak": {"bytes": "4 MiB"})"), "pass");
}

TEST_P(PolicyTest, LimitsWhatIsAllocated) {
  EXPECT_THAT(MetricsOver("Resources.Peaks", R"("allocated": {"bytes": "512 KiB"})"),
              Contains("allocated_bytes"));
  EXPECT_EQ(VerdictWithin("Resources.Peaks", R"("allocated": {"bytes": "4 MiB"})"), "pass");
}

TEST_P(PolicyTest, LimitsFileDescriptors) {
  EXPECT_THAT(MetricsOver("Resources.OpensAFile", R"("file_descriptors": 0)"),
              Contains("file_descriptors"));
  EXPECT_EQ(VerdictWithin("Resources.OpensAFile", R"("file_descriptors": 1)"), "pass");
}

TEST_P(PolicyTest, LimitsThreads) {
  EXPECT_THAT(MetricsOver("Resources.StartsAThread", R"("threads": 0)"), Contains("threads"));
}

TEST_P(PolicyTest, LimitsWhatIsMapped) {
  EXPECT_THAT(MetricsOver("Resources.Maps", R"("mapped": {"bytes": 1000})"),
              Contains(HasSubstr("mapped")));
  EXPECT_EQ(VerdictWithin("Resources.Maps", R"("mapped": {"bytes": "1 MiB"})"), "pass");
}

TEST_P(PolicyTest, PassesWhatLeavesNoResource) {
  EXPECT_EQ(VerdictWithin("Resources.LeavesNothing",
                          R"("file_descriptors": 0, "threads": 0, "mapped": {"bytes": 0})"),
            "pass");
}

TEST_P(PolicyTest, OlderThreadsBlocksAreNotATestsWhereItsThreadsAloneCount) {
  const nlohmann::json window =
      RunWithin("threads", "OldThread.*", std::string(R"("threads": "test", )") + kNothing)
          .Test("OldThread.LeaksOnce");

  EXPECT_EQ(window["verdict"], "pass");
  EXPECT_THAT(TextsOf(window, "disposition"), Contains("other_thread"));
}

TEST_P(PolicyTest, TellsTheOlderThreadAndWhoStartedIt) {
  const nlohmann::json window =
      RunWithin("threads", "OldThread.*", kNothing).Test("OldThread.LeaksOnce");

  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_THAT(TextsOf(window, "thread"), Contains(HasSubstr("started by")));
  EXPECT_THAT(TextsOf(window, "thread"), Contains(HasSubstr("OldThread::SetUpTestSuite")));
}

LEAKGATE_IN_BOTH_MODES(PolicyTest);

class CodeBudgetsTest : public BothModes {
 protected:
  GatedRun Run(const std::string& net_limit) {
    directory_.Write("net.leakgate.json",
                     R"({"component": "net", "code": {"paths": ["code/net/*"]},
                         "limits": {"test": {"outstanding": {"bytes": )" +
                         net_limit + "}}}}");
    directory_.Write("disk.leakgate.json",
                     R"({"component": "disk", "code": {"functions": ["disk::*"]},
                         "limits": {"test": {"outstanding": {"bytes": 200}}}})");
    directory_.Write("unowned.leakgate.json",
                     R"({"component": "unowned", "code": {"functions": ["nobody::*"]},
                         "limits": {"test": {"outstanding": {"bytes": 100}}}})");
    return RunByDefault({Fixture("code")}, {"--budgets", directory_.path()});
  }
  TemporaryDirectory directory_;
};

TEST_P(CodeBudgetsTest, ChargeEachComponentWithWhatItsCodeAllocates) {
  const nlohmann::json window = Run("300").Test("Code.LeaksInEach");

  EXPECT_EQ(window["verdict"], "pass") << window["violations"];
  EXPECT_THAT(TextsOf(window, "component"), UnorderedElementsAre("net", "disk", "unowned"));
}

TEST_P(CodeBudgetsTest, NameTheComponentThatIsOverItsBudget) {
  const GatedRun run = Run("299");
  const nlohmann::json window = run.Test("Code.LeaksInEach");

  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_EQ(window["violations"][0]["component"], "net");
  EXPECT_EQ(window["violations"][0]["actual"], 300);
  EXPECT_EQ(run.command.exit_code, 1);
}

LEAKGATE_IN_BOTH_MODES(CodeBudgetsTest);

}  // namespace
}  // namespace leakgate::test
