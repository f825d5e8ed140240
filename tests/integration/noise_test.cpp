// What looks like a leak and is none passes under the default policy, and the report
// says why. A leak of like shape fails.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;

// One source of noise, and what must be said of it.
struct Source {
  std::string name;
  std::string noise;   // the test that passes
  std::string why;     // its findings' disposition; empty: it leaves nothing
  std::string detail;  // the explanation, or the framework's rule
  std::string leak;    // the test that fails
};

void PrintTo(const Source& source, std::ostream* out) { *out << source.name; }

std::vector<nlohmann::json> FindingsOf(const nlohmann::json& window, bool of_framework) {
  std::vector<nlohmann::json> findings;
  for (const nlohmann::json& finding : window["findings"]) {
    if (finding.contains("framework_rule") == of_framework) findings.push_back(finding);
  }
  return findings;
}

std::vector<std::string> ValuesOf(const std::vector<nlohmann::json>& findings,
                                  const std::string& key) {
  std::vector<std::string> values;
  for (const nlohmann::json& finding : findings) values.push_back(finding.value(key, ""));
  return values;
}

class NoiseTest : public testing::TestWithParam<std::tuple<std::string, Source>> {
 protected:
  // All that is noise in one run; but these two leave nothing, or more, where others were before.
  static const GatedRun& RunNoise() {
    const std::string& noise = It().noise;
    if (noise == "Noise.UnusedMock" || noise == "Noise.DeathTest") return Run(noise);
    return Run("Noise.*:SuiteFixture.*:FreedByTheNext.*:Replaced.*-*.UnusedMock:*.DeathTest");
  }
  // All leaks of like shape.
  static const GatedRun& RunLeaks() {
    return Run("Leak.*:SuiteFixtureLeak.*:FreedByNobody.*:ReplacedAndLost.*");
  }
  static const Source& It() { return std::get<1>(GetParam()); }

 private:
  static const GatedRun& Run(const std::string& filter) {
    return SharedRunByDefault(
        {FixturePath("noise_" + std::get<0>(GetParam())), "--gtest_filter=" + filter}, {},
        {"TZ=EST5EDT"});
  }
};

TEST_P(NoiseTest, Passes) {
  const GatedRun& run = RunNoise();

  EXPECT_EQ(run.Test(It().noise)["verdict"], "pass") << run.command.standard_error;
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_output << run.command.standard_error;
}

TEST_P(NoiseTest, SaysWhyItPasses) {
  const nlohmann::json window = RunNoise().Test(It().noise);
  const std::vector<nlohmann::json> users = FindingsOf(window, false);

  if (It().why == "framework") {
    EXPECT_THAT(users, testing::IsEmpty());
    EXPECT_THAT(ValuesOf(FindingsOf(window, true), "framework_rule"), Contains(It().detail));
  } else if (It().why.empty()) {
    // On a busy machine a thread may free after the runner has stopped waiting for it.
    EXPECT_THAT(ValuesOf(users, "disposition"), Each("released_later"));
  } else {
    ASSERT_THAT(users, testing::Not(testing::IsEmpty()));
    EXPECT_THAT(ValuesOf(users, "disposition"), Contains(It().why));
    EXPECT_THAT(ValuesOf(users, "disposition"),
                Each(AnyOf(It().why, "one_time", "bounded", "replaced", "released_later")));
    EXPECT_THAT(ValuesOf(users, "explanation"), Contains(HasSubstr(It().detail)));
  }
}

TEST_P(NoiseTest, LeakOfLikeShapeFails) {
  const GatedRun& run = RunLeaks();

  EXPECT_EQ(run.Test(It().leak)["verdict"], "over_budget") << run.command.standard_error;
  EXPECT_EQ(run.command.exit_code, 1);
}

Source NoiseOf(const std::string& test, const std::string& why, const std::string& detail = "",
               std::string leak = "") {
  if (leak.empty()) leak = test;
  return {test, "Noise." + test, why, detail, "Leak." + leak};
}

Source Framework(const std::string& test, const std::string& rule, const std::string& leak = "") {
  return NoiseOf(test, "framework", rule, leak);
}

INSTANTIATE_TEST_SUITE_P(
    BothModes, NoiseTest,
    testing::Combine(
        testing::Values("untouched", "listener"),
        testing::Values(
            NoiseOf("FunctionStatic", "one_time"), NoiseOf("LazySingleton", "one_time"),
            NoiseOf("StaticOwner", "bounded"), NoiseOf("CallOnceRegistry", "one_time"),
            NoiseOf("StaticRegex", "one_time"), NoiseOf("LocaleFacet", "bounded"),
            NoiseOf("InternedStrings", "one_time"), NoiseOf("BoundedCache", "bounded"),
            NoiseOf("DequeThatMoves", "bounded", "", "DequeThatGrows"),
            NoiseOf("VectorsCapacity", "bounded"), NoiseOf("PoolOfFreeBlocks", "one_time"),
            NoiseOf("StoredException", "bounded"), NoiseOf("TaggedPointer", "one_time"),
            NoiseOf("IntrusiveList", "one_time"), NoiseOf("MappedHolder", "one_time"),
            Framework("Setenv", "libc.environment"), Framework("Setlocale", "libc.locale"),
            Framework("TimeZone", "libc.time-zone"), NoiseOf("Iconv", "one_time"),
            Framework("StdinsBuffer", "libc.stdio-buffer", "ClosedFile"), NoiseOf("ClosedFile", ""),
            Framework("Messages", "libc.messages"), Framework("LibraryThatStays", "libc.loader"),
            NoiseOf("Getaddrinfo", ""), Framework("Mocks", "gmock.reactions"),
            Framework("UnusedMock", "gmock.reactions"), Framework("Results", "gtest.results"),
            Framework("DeathTest", "gtest.death-tests"),
            NoiseOf("EnvironmentsTearDown", "released_later", "freed before the iteration ended"),
            NoiseOf("ThreadLocal", "one_time"), NoiseOf("ThreadThatFreesLater", ""),
            NoiseOf("ThreadPool", "one_time"),
            Source{"SuiteFixture", "SuiteFixture.Builds", "released_later",
                   "freed before the iteration ended", "SuiteFixtureLeak.Builds"},
            Source{"FreedByTheNext", "FreedByTheNext.Makes", "released_later",
                   "freed before the iteration ended", "FreedByNobody.Makes"},
            Source{"Replaced", "Replaced.Second", "replaced",
                   "32 B in 1 block of this call stack freed meanwhile",
                   "ReplacedAndLost.Second"})),
    [](const testing::TestParamInfo<NoiseTest::ParamType>& it) {
      return std::get<1>(it.param).name + "_" + std::get<0>(it.param);
    });

}  // namespace
}  // namespace leakgate::test
