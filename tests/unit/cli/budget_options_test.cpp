
#include <gmock/gmock.h>

#include "tests/unit/cli/parsed_command.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(BudgetOptionsTest, PrintsTheSchema) {
  EXPECT_THAT(Parse<PrintCommand>({"budget", "schema"}).text, HasSubstr("draft-07"));
}

TEST(BudgetOptionsTest, ChecksFilesAndDirectories) {
  const auto check = Parse<BudgetCheckCommand>({"budget", "check", "a", "b", "--", "t", "-x"});
  EXPECT_THAT(check.budgets, ElementsAre("a", "b"));
  EXPECT_THAT(check.program, ElementsAre("t", "-x"));
  EXPECT_THAT(Parse<BudgetCheckCommand>({"budget", "check", "a"}).program, IsEmpty());
}

TEST(BudgetOptionsTest, NamesTheFirstFileAfterItsComponent) {
  const auto init = Parse<BudgetInitCommand>({"budget", "init", "--component", "net", "--", "t"});
  EXPECT_EQ(init.component, "net");
  EXPECT_EQ(init.output, "net.leakgate.json");
  EXPECT_EQ(init.request.program, "t");
  EXPECT_THAT(init.request.budgets, IsEmpty());
  EXPECT_EQ(Parse<BudgetInitCommand>({"budget", "init", "--component", "net", "-o", "x", "--", "t"})
                .output,
            "x");
}

TEST(BudgetOptionsTest, RatchetsUnlessItOnlyChecks) {
  const auto ratchet =
      Parse<BudgetRatchetCommand>({"budget", "ratchet", "--budgets", "a", "--", "t", "--check"});
  EXPECT_EQ(ratchet.mode, RatchetMode::kWrite);
  EXPECT_THAT(ratchet.request.budgets, ElementsAre("a"));
  EXPECT_THAT(ratchet.request.arguments, ElementsAre("--check"));
  EXPECT_EQ(
      Parse<BudgetRatchetCommand>({"budget", "ratchet", "--check", "--budgets", "a", "--", "t"})
          .mode,
      RatchetMode::kCheck);
}

TEST(BudgetOptionsTest, ExplainsATest) {
  const auto explain = Parse<ExplainCommand>({"explain", "A.B", "--budgets", "x", "--budgets=y"});
  EXPECT_EQ(explain.test, "A.B");
  EXPECT_THAT(explain.budgets, ElementsAre("x", "y"));
  EXPECT_THAT(explain.program, IsEmpty());
}

TEST(BudgetOptionsTest, SaysWhatIsMissing) {
  EXPECT_EQ(ErrorOf({"budget"}),
            "no command; there are schema, check, init and ratchet; see leakgate budget --help");
  EXPECT_EQ(ErrorOf({"budget", "check"}),
            "no budget to check; name a file or a directory: leakgate budget check DIR");
  EXPECT_EQ(ErrorOf({"budget", "init", "--", "t"}),
            "no component; name it: leakgate budget init --component NAME -- BINARY");
  EXPECT_EQ(ErrorOf({"budget", "init", "--component", "net"}),
            "no program to run; write it after two dashes: leakgate budget init --component NAME "
            "-- BINARY");
  EXPECT_EQ(ErrorOf({"budget", "init", "--component", "a/b", "--", "t"}),
            "--component 'a/b': has a '/'; name the file with -o FILE");
  EXPECT_EQ(ErrorOf({"budget", "ratchet", "--", "t"}),
            "no budget to tighten; name it: leakgate budget ratchet --budgets DIR -- BINARY");
  EXPECT_EQ(ErrorOf({"budget", "ratchet", "--budgets", "a"}),
            "no program to run; write it after two dashes: leakgate budget ratchet --budgets DIR "
            "-- BINARY");
  EXPECT_EQ(ErrorOf({"explain"}),
            "no test to explain; name it: leakgate explain Suite.Test --budgets DIR");
}

TEST(BudgetOptionsTest, PointsToTheHelpForWhatItDoesNotKnow) {
  EXPECT_THAT(ErrorOf({"budget", "chek"}), HasSubstr("see leakgate budget --help"));
  EXPECT_THAT(ErrorOf({"explain", "A.B", "--budget", "x"}), HasSubstr("see leakgate explain"));
}

struct HelpCase {
  std::vector<std::string> arguments;
  const char* usage;
};

TEST(BudgetHelpTest, FitsATerminalAndShowsTheUsage) {
  for (const HelpCase& it :
       {HelpCase{{"budget", "--help"}, "leakgate budget schema"},
        HelpCase{{"budget", "check", "-h"}, "leakgate budget check FILE|DIR"},
        HelpCase{{"budget", "init", "--help"}, "leakgate budget init --component NAME"},
        HelpCase{{"budget", "ratchet", "--help"}, "leakgate budget ratchet [--check]"},
        HelpCase{{"explain", "--help"}, "leakgate explain TEST"}}) {
    const std::string text = Parse<PrintCommand>(it.arguments).text;
    EXPECT_THAT(text, HasSubstr(it.usage));
    EXPECT_THAT(text, testing::Not(testing::ContainsRegex("[^\n]{81}")));
  }
}

}  // namespace
}  // namespace leakgate
