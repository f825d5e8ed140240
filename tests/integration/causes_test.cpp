// Many tests that fail for few causes: what there is to fix, told once each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/integration/both_modes.h"
#include "tests/support/command.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Le;
using testing::Not;

std::ptrdiff_t CountParts(const std::string& text, const std::string& part) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++count;
  }
  return count;
}

const std::vector<std::string> kSites = {"net::LoseArray", "net::KeepMore", "net::LoseRaw",
                                         "net::LoseText", "net::LoseSmall"};

class CausesTest : public BothModes {
 protected:
  static GatedRun Run(const std::vector<std::string>& options) {
    return RunByDefault({Fixture("many_causes")}, options);
  }
};

TEST_P(CausesTest, AreToldOnceEachOnOneScreen) {
  const TemporaryDirectory directory;
  const GatedRun run = Run({"--report", "github=" + directory.File("github"), "--report",
                            "markdown=" + directory.File("markdown")});
  EXPECT_EQ(run.command.exit_code, 1);
  const std::string& said = run.command.standard_error;
  EXPECT_THAT(CountParts(said, "\n"), Le(60)) << said;
  EXPECT_THAT(said, AllOf(HasSubstr("160 tests: 160 over budget; from 5 causes"),
                          ContainsRegex("32 tests +net::LoseArray \\(.*many_causes.cpp:13\\)")));
  for (const std::string& site : kSites) EXPECT_THAT(said, HasSubstr(site));
  if (!IsListener()) {
    EXPECT_EQ(CountParts(said, "Failure in 32 tests: All/Many.LeaveSomething/"), 4) << said;
    EXPECT_EQ(CountParts(said, "and 29 more\n"), 4) << said;
    EXPECT_EQ(CountParts(said, "fix it, or allow it"), 4) << said;
    EXPECT_THAT(said, HasSubstr("\nand 1 more cause; --verbose and the reports tell each"));
  }

  const std::string annotations = ReadFile(directory.File("github"));
  EXPECT_EQ(CountParts(annotations, "::error "), 5) << annotations;
  EXPECT_EQ(CountParts(annotations, " in 32 tests: "), 5) << annotations;
  const std::string summary = ReadFile(directory.File("markdown"));
  EXPECT_EQ(CountParts(summary, "<details>"), 5) << summary;
}

// With the listener, GoogleTest prints each failure that is certain at the test's end: not what may
// yet be found not to grow.
TEST_P(CausesTest, AFailureInTheTestRefersToTheOneThatToldTheSame) {
  const std::string printed = Run({}).command.standard_output;
  EXPECT_EQ(CountParts(printed, "fix it, or allow it"), IsListener() ? 4 : 0) << printed;
  const std::ptrdiff_t told =
      CountParts(printed, "All/Many.LeaveSomething/0, which tells it in full");
  EXPECT_THAT(told, IsListener() ? AllOf(testing::Ge(20), Le(31)) : AllOf(testing::Ge(0), Le(0)));
}

TEST_P(CausesTest, VerboseListsEachTest) {
  const std::string said = Run({"--verbose"}).command.standard_error;
  for (const char* const test : {"/0\n", "/77\n", "/159\n"}) {
    EXPECT_THAT(said, HasSubstr(std::string("All/Many.LeaveSomething") + test));
  }
  EXPECT_THAT(said, Not(HasSubstr("--verbose")));
}

// As CTest runs them: a process for each test, whose results are merged.
TEST_P(CausesTest, OfManyProcessesAreMerged) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 12; ++i) {
    (void)RunByDefault(
        {Fixture("many_causes"), "--gtest_filter=All/Many.LeaveSomething/" + std::to_string(i)},
        {"--confirm=off", "--report", "json=" + directory.File(std::to_string(i) + ".json")});
  }
  const CommandResult merged = Leakgate({"merge", directory.path()});
  EXPECT_EQ(merged.exit_code, 1);
  const std::string& said = merged.standard_error;
  EXPECT_THAT(CountParts(said, "\n"), Le(60)) << said;
  EXPECT_THAT(said, ContainsRegex("Failure in [23] tests: All/Many.LeaveSomething/"));
  for (const std::string& site : {"net::LoseArray", "net::LoseRaw"}) {
    EXPECT_EQ(CountParts(said, "> " + site), 1) << said;
  }
}

LEAKGATE_IN_BOTH_MODES(CausesTest);

}  // namespace
}  // namespace leakgate::test
