// Test binaries of Catch2, doctest and Boost.Test, with leakgate's header and without.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string TextOfFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int CountIn(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

// What differs between the frameworks.
struct OtherFramework {
  std::string fixture;
  std::string header;
  std::string failed;                       // how its output fails a test by a verdict
  std::vector<std::string> choosing_two{};  // a passing test, and one that grows
  std::vector<std::string> report_to{};     // the last argument is continued by a file's name
  char space = ' ';                         // in the names of tests
};

void PrintTo(const OtherFramework& framework, std::ostream* out) { *out << framework.fixture; }

const OtherFramework kCatch2 = {.fixture = "catch2",
                                .header = "leakgate/catch2.h",
                                .failed = "FAILED:\nexplicitly with message:\n  ",
                                .choosing_two = {"passes,grows a cache"},
                                .report_to = {"-r", "junit", "-o", ""}};
const OtherFramework kDoctest = {.fixture = "doctest",
                                 .header = "leakgate/doctest.h",
                                 .failed = "ERROR: ",
                                 .choosing_two = {"-tc=passes,grows a cache"},
                                 .report_to = {"-r=junit", "-o="}};
const OtherFramework kBoostTest = {.fixture = "boost_test",
                                   .header = "leakgate/boost_test.h",
                                   .failed = "error: in \"leaks\": ",
                                   .choosing_two = {"--run_test=passes,grows_a_cache"},
                                   .report_to = {"--log_format=JUNIT", "--log_sink="},
                                   .space = '_'};

class OtherFrameworkTest : public testing::TestWithParam<OtherFramework> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(WithHeader())) {
      GTEST_SKIP() << GetParam().fixture << " is not installed (ci/setup --tests)";
    }
  }

  static std::string WithHeader() { return FixturePath(GetParam().fixture + "_header"); }
  static std::string Untouched() { return FixturePath(GetParam().fixture + "_untouched"); }
  static const GatedRun& Run() { return SharedRunByDefault({WithHeader()}); }

  static nlohmann::json TestOf(const GatedRun& run, std::string name) {
    std::replace(name.begin(), name.end(), ' ', GetParam().space);
    return run.Test(name);
  }
  static nlohmann::json Test(const std::string& name) { return TestOf(Run(), name); }
  static std::string VerdictOf(const std::string& name) { return OutcomeOf(Test(name)).verdict; }

  static Outcome Lost(long bytes) {
    return OverBudget({{bytes, 1, "malloc", "frameworks::Lose(unsigned long)",
                        PlaceOf("frameworks/kept.h", "lost")}});
  }
};

std::string NameOfFramework(const testing::TestParamInfo<OtherFramework>& framework) {
  return framework.param.fixture;
}

TEST_P(OtherFrameworkTest, FailsTheTestThatLosesABlock) {
  EXPECT_EQ(OutcomeOf(Test("leaks")), Lost(200100));
  EXPECT_EQ(OutcomeOf(Test("passes")), Pass());
}

TEST_P(OtherFrameworkTest, PutsTheVerdictIntoTheFrameworksOwnFailure) {
  EXPECT_THAT(Run().command.standard_output,
              HasSubstr(GetParam().failed + "leakgate: 195.4 KiB in 1 block lost"));
}

TEST_P(OtherFrameworkTest, FailsTheProgramForALeakAlone) {
  const OtherFramework& framework = GetParam();
  const std::string choice = framework.choosing_two.front();
  const GatedRun run =
      RunByDefault({WithHeader(), choice.substr(0, choice.find("passes")) + "leaks"});
  EXPECT_NE(run.report["program"]["exit_code"], 0) << run.report["program"];
}

TEST_P(OtherFrameworkTest, PassesWhatIsBuiltOnce) {
  EXPECT_EQ(VerdictOf("builds a table once"), "pass");
}

TEST_P(OtherFrameworkTest, FailsACacheThatGrowsWhenTheTestIsRepeated) {
  EXPECT_EQ(VerdictOf("grows a cache"), "over_budget");
  EXPECT_THAT(Run().command.standard_error, HasSubstr("growing each time"));
}

TEST_P(OtherFrameworkTest, KeepsTheTestsOwnResult) {
  EXPECT_EQ(Test("passes")["test_result"], "passed");
  EXPECT_EQ(Test("fails by itself")["test_result"], "failed");
  EXPECT_EQ(VerdictOf("fails by itself"), "pass");
  EXPECT_EQ(OutcomeOf(Test("fails by itself and leaks")), Lost(200050));
}

TEST_P(OtherFrameworkTest, IsChargedWithNothingOfTheFrameworks) {
  EXPECT_THAT(Run().command.standard_error, Not(HasSubstr("unconfirmed:")));
}

TEST_P(OtherFrameworkTest, LeavesTheProgramAsItIsWithoutTheRunner) {
  const std::regex name("_(header|untouched)");
  const CommandResult with = RunCommand({WithHeader()});
  const CommandResult without = RunCommand({Untouched()});
  EXPECT_EQ(with.exit_code, without.exit_code);
  EXPECT_NE(with.exit_code, 0);
  EXPECT_EQ(with.standard_error, without.standard_error);
  EXPECT_EQ(std::regex_replace(with.standard_output, name, ""),
            std::regex_replace(without.standard_output, name, ""));
}

TEST_P(OtherFrameworkTest, FailsWithoutTheRunnerWhereThatIsRequired) {
  const CommandResult result = RunCommand({WithHeader()}, {.environment = {"LEAKGATE_REQUIRED=1"}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_error, HasSubstr("leakgate: not tracing"));
}

TEST_P(OtherFrameworkTest, IsToldWhichHeaderItNeeds) {
  const GatedRun run = RunByDefault({Untouched()});
  EXPECT_THAT(run.command.standard_error, HasSubstr("add #include <" + GetParam().header + ">"));
}

// Repetitions would write another report in its place.
TEST_P(OtherFrameworkTest, KeepsTheReportThatTheUserAskedFor) {
  const TemporaryDirectory directory;
  const std::string report = directory.path() + "/report.xml";
  std::vector<std::string> command = {WithHeader()};
  command.insert(command.end(), GetParam().report_to.begin(), GetParam().report_to.end());
  command.back() += report;
  command.insert(command.end(), GetParam().choosing_two.begin(), GetParam().choosing_two.end());
  const GatedRun run = RunByDefault(command);
  EXPECT_EQ(OutcomeOf(TestOf(run, "grows a cache")).verdict, "over_budget");
  const std::string text = TextOfFile(report);
  EXPECT_EQ(CountIn(text, "<testcase ") - CountIn(text, "<skipped/>"), 2) << text;
}

// The first thing that the test allocates may be the framework's own.
TEST_P(OtherFrameworkTest, FailsForAPlantedLeak) {
  const std::string choice = GetParam().choosing_two.front();
  const GatedRun run =
      RunByDefault({WithHeader(), choice.substr(0, choice.find(','))}, {"--plant-leak"});
  EXPECT_EQ(OutcomeOf(Test("passes")).verdict, "pass");
  EXPECT_EQ(OutcomeOf(TestOf(run, "passes")).verdict, "over_budget");
}

INSTANTIATE_TEST_SUITE_P(, OtherFrameworkTest, testing::Values(kCatch2, kDoctest, kBoostTest),
                         NameOfFramework);

// Sections of Catch2 and subcases of doctest, for which a test case runs several times.
class SectionsOfTestCaseTest : public OtherFrameworkTest {};

TEST_P(SectionsOfTestCaseTest, HaveOneWindowTogether) {
  EXPECT_EQ(OutcomeOf(Test("leaks in a section")), Lost(200200));
  EXPECT_EQ(VerdictOf("frees in a later section"), "pass");
}

INSTANTIATE_TEST_SUITE_P(, SectionsOfTestCaseTest, testing::Values(kCatch2, kDoctest),
                         NameOfFramework);

class Catch2Test : public OtherFrameworkTest {};

TEST_P(Catch2Test, HasOneWindowForAllGeneratedValues) {
  EXPECT_EQ(OutcomeOf(Test("leaks for one generated value")), Lost(200070));
}

// Catch2 takes the failure for one that is permitted; the runner does not.
TEST_P(Catch2Test, FailsALeakOfATestThatMayFail) {
  EXPECT_EQ(OutcomeOf(Test("may fail, and leaks")), Lost(200060));
  EXPECT_EQ(RunByDefault({WithHeader(), "may fail*"}).command.exit_code, 1);
}

INSTANTIATE_TEST_SUITE_P(, Catch2Test, testing::Values(kCatch2), NameOfFramework);

class DoctestTest : public OtherFrameworkTest {};

TEST_P(DoctestTest, RepeatsATestWhoseNameHasTheCharactersOfFilters) {
  EXPECT_EQ(VerdictOf("a suite.grows, and has a dot. a comma, and *"), "over_budget");
}

TEST_P(DoctestTest, FailsALeakOfATestThatMayFail) {
  EXPECT_EQ(OutcomeOf(Test("a suite.may fail, and leaks")), Lost(200060));
}

INSTANTIATE_TEST_SUITE_P(, DoctestTest, testing::Values(kDoctest), NameOfFramework);

class BoostTestTest : public OtherFrameworkTest {};

TEST_P(BoostTestTest, HasFixturesWithinTheWindow) {
  EXPECT_EQ(OutcomeOf(Test("a_suite/frees_in_its_fixture")), Pass());
}

TEST_P(BoostTestTest, RepeatsATestOfASuite) {
  EXPECT_EQ(VerdictOf("a_suite/grows_in_a_suite"), "over_budget");
}

TEST_P(BoostTestTest, KeepsAnExceptionForTheTestsResult) {
  EXPECT_EQ(Test("a_suite/throws")["test_result"], "failed");
  EXPECT_EQ(VerdictOf("a_suite/throws"), "pass");
}

INSTANTIATE_TEST_SUITE_P(, BoostTestTest, testing::Values(kBoostTest), NameOfFramework);

}  // namespace
}  // namespace leakgate::test
