// What the framework keeps is shown apart, under a rule's name, and the user's
// leak beside it still fails the test.
#include <gmock/gmock.h>

#include <set>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::Contains;

struct Noise {
  std::string test;
  std::string rule;
  Leak leak;  // of the user's test of the same name
};

void PrintTo(const Noise& noise, std::ostream* out) { *out << noise.test; }

std::set<std::string> RulesOf(const nlohmann::json& window) {
  std::set<std::string> rules;
  for (const nlohmann::json& finding : window["findings"]) {
    if (finding.contains("framework_rule")) rules.insert(finding["framework_rule"]);
  }
  return rules;
}

class FrameworkTest : public testing::TestWithParam<std::tuple<std::string, Noise>> {
 protected:
  // What was said of this test of `suite`, in a run of all tests of that.
  static nlohmann::json TestOf(const std::string& suite) {
    const std::string fixture = FixturePath("framework_" + std::get<0>(GetParam()));
    const std::string test = suite + "." + Kept().test;
    // The time zone is read once.
    const bool is_alone = Kept().test == "TimeZoneAtLast";
    const std::string filter = is_alone ? test : suite + ".*-*.TimeZoneAtLast";
    return SharedGatedRun({fixture, "--gtest_filter=" + filter}, {}, {"TZ=EST5EDT"}).Test(test);
  }
  static const Noise& Kept() { return std::get<1>(GetParam()); }
};

TEST_P(FrameworkTest, PassesWhatTheFrameworkKeeps) {
  const nlohmann::json window = TestOf("Framework");

  EXPECT_EQ(OutcomeOf(window), Pass());
  EXPECT_GT(window["framework"]["bytes"], 0);
  EXPECT_THAT(RulesOf(window), Contains(Kept().rule));
}

TEST_P(FrameworkTest, LeavesTheFrameworksOwnOutOfGrowth) {
  EXPECT_EQ(TestOf("Framework")["growth"]["bytes"], 0);
}

TEST_P(FrameworkTest, FailsTheUsersLeakBesideIt) {
  EXPECT_EQ(OutcomeOf(TestOf("User")), OverBudget({Kept().leak}));
}

Leak At(const std::string& marker, const std::string& function, long bytes,
        const std::string& kind = "malloc") {
  return {bytes, 1, kind, function, PlaceOf("framework.cpp", marker)};
}

Leak OnTheWay() { return At("made on the way", "LeakyText[abi:cxx11]()", 200); }

INSTANTIATE_TEST_SUITE_P(
    BothModes, FrameworkTest,
    testing::Combine(
        testing::Values("untouched", "listener"),
        testing::Values(
            Noise{"Succeed", "gtest.results", OnTheWay()},
            Noise{"RecordProperty", "gtest.properties", OnTheWay()},
            Noise{"ScopedTrace", "gtest.traces", OnTheWay()},
            Noise{"ExpectCall", "gmock.sequences",
                  At("action", "User_ExpectCall_Test::TestBody::{lambda}::operator()", 200)},
            Noise{"NiceMock", "gmock.reactions",
                  At("mock", "User_NiceMock_Test::TestBody()", 80, "new")},
            Noise{"Locale", "libc.locale", At("locale", "User_Locale_Test::TestBody()", 8)},
            Noise{"TimeZone", "libc.time-zone",
                  At("time zone", "User_TimeZone_Test::TestBody()", 4)},
            Noise{"TimeZoneAtLast", "libc.time-zone",
                  At("before the last call", "User_TimeZoneAtLast_Test::TestBody()", 4)},
            Noise{"Environment", "libc.environment",
                  At("environment", "User_Environment_Test::TestBody()", 18)},
            Noise{"StreamBuffer", "libc.stdio-buffer",
                  At("stream", "User_StreamBuffer_Test::TestBody()", 472)},
            Noise{"Thread", "libc.threads", At("thread", "LeakInThread(void*)", 200)})),
    [](const testing::TestParamInfo<FrameworkTest::ParamType>& it) {
      return std::get<1>(it.param).test + "_" + std::get<0>(it.param);
    });

}  // namespace
}  // namespace leakgate::test
