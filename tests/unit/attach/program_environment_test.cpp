#include "runner/attach/program_environment.h"

#include <gmock/gmock.h>
#include <stdlib.h>

namespace leakgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const TracingVariables kTracing = {"/lib/agent.so", "name"};

TEST(ProgramEnvironmentTest, KeepsWhatIsThereInItsOrderAndAddsItsOwn) {
  EXPECT_THAT(ProgramEnvironment({"B=1", "A=", "odd"}, kTracing).value(),
              ElementsAre("B=1", "A=", "odd", "LD_PRELOAD=/lib/agent.so", "LEAKGATE_CONTROL=name"));
}

TEST(ProgramEnvironmentTest, PreloadsTheAgentInFrontOfOthers) {
  const auto environment = ProgramEnvironment({"LD_PRELOAD=a.so:b.so"}, kTracing).value();
  EXPECT_THAT(environment, Contains("LD_PRELOAD=/lib/agent.so:a.so:b.so"));
  EXPECT_THAT(environment, Not(Contains("LD_PRELOAD=a.so:b.so")));
}

TEST(ProgramEnvironmentTest, TakesAnEmptyPreloadForNone) {
  EXPECT_THAT(ProgramEnvironment({"LD_PRELOAD="}, kTracing).value(),
              Contains("LD_PRELOAD=/lib/agent.so"));
}

TEST(ProgramEnvironmentTest, ReplacesTheControlNameOfALeakgateAroundThisOne) {
  EXPECT_THAT(ProgramEnvironment({"LEAKGATE_CONTROL=outer"}, kTracing).value(),
              Not(Contains("LEAKGATE_CONTROL=outer")));
}

TEST(ProgramEnvironmentTest, LeavesTheUsersStreamOfEventsAlone) {
  EXPECT_THAT(ProgramEnvironment({"GTEST_STREAM_RESULT_TO=host:1"}, kTracing).value(),
              Contains("GTEST_STREAM_RESULT_TO=host:1"));
}

TEST(OwnEnvironmentTest, HasAtItsPlaceWhatThisProcessDoesWithout) {
  ::setenv("LEAKGATE_TEST_A", "1", 1);
  ::setenv("LEAKGATE_TEST_B", "2", 1);
  ::setenv("LEAKGATE_TEST_C", "3", 1);
  const std::vector<std::string> before = OwnEnvironment();
  HideVariable("LEAKGATE_TEST_B");
  EXPECT_EQ(::getenv("LEAKGATE_TEST_B"), nullptr);
  EXPECT_EQ(OwnEnvironment(), before);
}

class UnloadablePathTest : public testing::TestWithParam<const char*> {};

TEST_P(UnloadablePathTest, IsRefused) {
  const auto environment = ProgramEnvironment({}, {GetParam(), "name"});
  ASSERT_FALSE(environment.has_value());
  EXPECT_EQ(environment.error().exit_code, ExitCode::kInconclusive);
  EXPECT_THAT(environment.error().message, HasSubstr("install leakgate elsewhere"));
}

INSTANTIATE_TEST_SUITE_P(, UnloadablePathTest,
                         testing::Values("/a b/agent.so", "/a:b/agent.so", "/a\tb/agent.so"));

}  // namespace
}  // namespace leakgate
