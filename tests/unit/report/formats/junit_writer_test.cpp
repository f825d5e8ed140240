#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pugixml.hpp>

#include "tests/unit/report/formats/written.h"

namespace leakgate {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class JunitTest : public testing::Test {
 protected:
  pugi::xml_node Root(const RunResult& run) {
    text_ = sample::Written(ReportFormat::kJunit, {run});
    EXPECT_TRUE(document_.load_string(text_.c_str())) << text_;
    return document_.child("testsuites");
  }
  pugi::xml_node Suite(const RunResult& run, const char* name) {
    return Root(run).find_child_by_attribute("testsuite", "name", name);
  }
  // The only case of a run of one window.
  pugi::xml_node Case(const RunResult& run) {
    return Root(run).child("testsuite").child("testcase");
  }
  pugi::xml_node Case(const WindowResult& window) { return Case(sample::RunOf({window})); }

  std::string text_;
  pugi::xml_document document_;
};

std::string Property(const pugi::xml_node& test, const char* name) {
  return test.child("properties")
      .find_child_by_attribute("property", "name", name)
      .attribute("value")
      .value();
}

TEST_F(JunitTest, HasACaseForEachTestInItsSuite) {
  const pugi::xml_node suite = Suite(sample::PassingRun(), "HttpTest");

  EXPECT_STREQ(suite.attribute("tests").value(), "2");
  EXPECT_STREQ(suite.attribute("failures").value(), "0");
  const pugi::xml_node first = suite.child("testcase");
  EXPECT_STREQ(first.attribute("classname").value(), "HttpTest");
  EXPECT_STREQ(first.attribute("name").value(), "Get");
  EXPECT_FALSE(first.child("failure"));
}

TEST_F(JunitTest, HasTheGatesFailureInsideTheTestsCase) {
  WindowResult window = sample::FailingTest();
  window.source_file = "/home/me/project/tests/http_test.cc";
  window.source_line = 25;

  const pugi::xml_node test = Case(window);

  const pugi::xml_node failure = test.child("failure");
  EXPECT_STREQ(failure.attribute("type").value(), "leakgate.over_budget");
  EXPECT_STREQ(failure.attribute("message").value(), "128 B in 2 blocks outstanding, budget 0 B");
  EXPECT_THAT(failure.text().get(),
              StartsWith("src/net/pool.cc:88: Failure in HttpTest.KeepAlive\n"));
  EXPECT_THAT(failure.text().get(), HasSubstr("> net::Pool::Grow(unsigned long)"));
  EXPECT_THAT(failure.text().get(), HasSubstr("fix it, or allow it in \"overrides\""));
  EXPECT_STREQ(test.attribute("file").value(), "tests/http_test.cc");
  EXPECT_STREQ(test.attribute("line").value(), "25");
}

TEST_F(JunitTest, HasTheFiguresAsProperties) {
  WindowResult window = sample::FailingUncoveredTest();
  window.peak_live_bytes = 4096;
  sample::ChangeBudget(window,
                       [](AppliedBudget& budget) { budget = sample::BudgetOf("net", "me"); });

  const pugi::xml_node test = Case(window);

  EXPECT_EQ(Property(test, "leakgate.verdict"), "over_budget");
  EXPECT_EQ(Property(test, "leakgate.component"), "net");
  EXPECT_EQ(Property(test, "leakgate.owner"), "me");
  EXPECT_EQ(Property(test, "leakgate.outstanding_bytes"), "128");
  EXPECT_EQ(Property(test, "leakgate.lost_blocks"), "2");
  EXPECT_EQ(Property(test, "leakgate.retained_bytes"), "");  // there are none
  EXPECT_EQ(Property(test, "leakgate.peak_live_bytes"), "4096");
}

TEST_F(JunitTest, HasGoogleTestsOwnFailuresAndSkippedTests) {
  WindowResult failed = sample::PassingTest("A.Fails");
  failed.status = TestStatus::kFailed;
  EXPECT_STREQ(Case(failed).child("failure").attribute("type").value(), "googletest.failed");

  WindowResult skipped = sample::PassingTest("A.Skipped");
  skipped.status = TestStatus::kSkipped;
  EXPECT_TRUE(Case(skipped).child("skipped"));

  WindowResult crashed = sample::PassingTest("A.Crashes");
  crashed.status = TestStatus::kCrashed;
  EXPECT_STREQ(Case(crashed).child("error").attribute("type").value(), "googletest.crashed");
}

TEST_F(JunitTest, TakesATestThatDidNotPassForSkippedWhereTheProgramSucceeded) {
  WindowResult window = sample::PassingTest("A.B");
  window.status = TestStatus::kNotPassed;
  RunResult run = sample::RunOf({window});
  EXPECT_TRUE(Case(run).child("skipped"));
  run.program.exit_code = 1;
  EXPECT_STREQ(Case(run).child("failure").attribute("type").value(), "googletest.not_passed");
}

TEST_F(JunitTest, SaysOnceThatATestFailedInBothWays) {
  WindowResult window = sample::FailingTest();
  window.status = TestStatus::kFailed;
  RunResult run = sample::RunOf({window}, BoundarySource::kStream);
  EXPECT_THAT(Case(run).child("failure").text().get(), HasSubstr("failed in GoogleTest, too"));
  EXPECT_FALSE(Case(run).child("failure").next_sibling("failure"));

  run.tracing.boundaries = BoundarySource::kListener;  // it failed by the gate
  EXPECT_THAT(Case(run).child("failure").text().get(), Not(HasSubstr("too")));
}

TEST_F(JunitTest, WhatIsInconclusiveIsAnError) {
  const pugi::xml_node error =
      Case(sample::InconclusiveTest("A.B", "the map was full")).child("error");
  EXPECT_STREQ(error.attribute("type").value(), "leakgate.inconclusive");
  EXPECT_STREQ(error.attribute("message").value(), "the map was full");
}

TEST_F(JunitTest, WhatIsUnconfirmedIsOutputAndAFailureWhenStrict) {
  RunResult run = sample::RunOf({sample::UnconfirmedTest()});
  EXPECT_FALSE(Case(run).child("failure"));
  EXPECT_THAT(Case(run).child("system-out").text().get(),
              StartsWith("unconfirmed: 64 B in 1 block"));
  run.mode = GateMode::kStrict;
  EXPECT_STREQ(Case(run).child("failure").attribute("type").value(), "leakgate.unconfirmed");
}

TEST_F(JunitTest, NothingFailsWhereTheRunFailsNothing) {
  RunResult run = sample::RunOfEverything();
  run.mode = GateMode::kWarnOnly;
  run.exit_code = 0;
  run.program.exit_code = 0;
  (void)Root(run);
  EXPECT_THAT(text_, Not(HasSubstr("type=\"leakgate.")));
  EXPECT_THAT(text_, HasSubstr("<system-out>leakgate: 128 B in 2 blocks lost"));
}

TEST_F(JunitTest, SuitesAndTheProgramAreCasesOfTheirOwnWhereThereIsSomethingToTell) {
  WindowResult suite = sample::FailingTest("PoolTest");
  suite.kind = WindowKind::kSuite;
  const RunResult run = sample::RunOf({sample::FailingProgram(), suite});

  EXPECT_STREQ(Suite(run, "PoolTest").child("testcase").attribute("name").value(), "(suite)");
  EXPECT_STREQ(Suite(run, "http_test").child("testcase").attribute("name").value(), "(program)");
  EXPECT_FALSE(Suite(sample::PassingRun(), "http_test"));
}

TEST_F(JunitTest, WhyTheWholeRunFailsIsACaseOfItsOwn) {
  RunResult run = sample::PassingRun();
  run.reasons = {"2 allocations were not recorded", "the canary was not seen"};
  const pugi::xml_node error = Suite(run, "http_test").child("testcase").child("error");
  EXPECT_STREQ(error.attribute("message").value(), "2 allocations were not recorded");
  EXPECT_STREQ(error.text().get(), "2 allocations were not recorded\nthe canary was not seen");
}

TEST_F(JunitTest, ARunThatDoesNotSucceedIsNeverAllGreen) {
  RunResult run = sample::PassingRun();
  run.program.exit_code = run.exit_code = 7;
  const pugi::xml_node error = Suite(run, "http_test").child("testcase").child("error");
  EXPECT_STREQ(error.attribute("message").value(),
               "the program exited with 7; leakgate exits with 7");
}

TEST_F(JunitTest, EachIterationOfATestIsACase) {
  const pugi::xml_node suite =
      Suite(sample::RunOf({sample::PassingTest("A.B", 1), sample::PassingTest("A.B", 2)}), "A");
  EXPECT_STREQ(suite.last_child().attribute("name").value(), "B #2");
}

TEST_F(JunitTest, KeepsWhatXmlForbidsReadable) {
  WindowResult window = sample::PassingTest("A.\x01\x1b[31m\xEF\xBF\xBF");
  EXPECT_STREQ(Case(window).attribute("name").value(), "\\x01\\x1b[31m\xEF\xBF\xBD");
}

}  // namespace
}  // namespace leakgate
