#include "runner/run/doctor.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kGibibyte = 1U << 30;

TEST(ExaminationTest, TellsWhereTestBoundariesComeFrom) {
  EXPECT_THAT(CheckFramework({TestFramework::kGoogleTest}).text, HasSubstr("event stream"));
  EXPECT_THAT(CheckFramework({TestFramework::kGoogleTest, true}).text, HasSubstr("listener"));
  EXPECT_THAT(CheckFramework({TestFramework::kCatch2, true}).text,
              HasSubstr("Catch2, with leakgate's listener"));
  EXPECT_EQ(CheckFramework({TestFramework::kGoogleTest}).result, CheckResult::kOk);
}

TEST(ExaminationTest, WarnsOfAFileWithoutGoogleTest) {
  const Check check = CheckFramework({});
  EXPECT_EQ(check.result, CheckResult::kWarning);
  EXPECT_THAT(check.text, HasSubstr("the program is judged as a whole"));
}

TEST(ExaminationTest, SaysWhatGoogleTestNeedsWhereItHasNoStream) {
  const Check check =
      CheckFramework({.framework = TestFramework::kGoogleTest, .has_stream = false});
  EXPECT_EQ(check.result, CheckResult::kWarning);
  EXPECT_THAT(check.text, HasSubstr("link leakgate::listener"));
}

TEST(ExaminationTest, SaysWhichHeaderAnotherFrameworkNeeds) {
  const Check check = CheckFramework({TestFramework::kCatch2});
  EXPECT_EQ(check.result, CheckResult::kWarning);
  EXPECT_THAT(check.text, HasSubstr("add #include <leakgate/catch2.h>"));
}

TEST(ExaminationTest, WarnsOfAStrippedFile) {
  const Check check = CheckSymbols({.has_symbols = false});
  EXPECT_EQ(check.result, CheckResult::kWarning);
  EXPECT_THAT(check.text, HasSubstr("without -s or strip"));
  EXPECT_EQ(CheckSymbols({.has_symbols = true}).result, CheckResult::kOk);
}

TEST(ExaminationTest, TellsWhereLinesAreFrom) {
  EXPECT_EQ(CheckLines({.has_lines = true}).text, "debug information in the file");
  EXPECT_EQ(CheckLines({.has_lines = true, .separate_file = "/d/a.debug"}).text,
            "debug information in /d/a.debug");
}

TEST(ExaminationTest, WarnsWhereThereIsNoDebugInformation) {
  const Check check = CheckLines({});
  EXPECT_EQ(check.result, CheckResult::kWarning);
  EXPECT_THAT(check.text, HasSubstr("build with -g"));
}

TEST(ExaminationTest, NamesTheSeparateFileThatIsMissing) {
  const Check check = CheckLines({.debug_link = "a.debug"});
  EXPECT_EQ(check.result, CheckResult::kWarning);
  EXPECT_THAT(check.text, HasSubstr("in a.debug, which is not there"));
  EXPECT_THAT(check.text, HasSubstr(".debug/"));
}

TEST(ExaminationTest, WarnsWhereStacksCannotBeWalked) {
  EXPECT_EQ(CheckUnwinding({}).result, CheckResult::kWarning);
  EXPECT_EQ(CheckUnwinding({.has_unwind_table = true}).result, CheckResult::kOk);
}

TEST(ExaminationTest, AsksForAddressSpaceThatHoldsTheAgentsTables) {
  EXPECT_EQ(CheckAddressSpace(std::nullopt).result, CheckResult::kOk);
  EXPECT_EQ(CheckAddressSpace(2 * kGibibyte).result, CheckResult::kOk);
  const Check check = CheckAddressSpace(kGibibyte / 4);
  EXPECT_EQ(check.result, CheckResult::kNo);
  EXPECT_THAT(check.text, HasSubstr("256 MiB"));
  EXPECT_THAT(check.text, HasSubstr("(ulimit -v)"));
}

TEST(ExaminationTest, OfAProgramThatIsNotThereIsAUsageError) {
  const auto checks =
      CheckProgram({.program = "/no/such/program", .arguments = {}, .agent = "/agent"});
  ASSERT_FALSE(checks.has_value());
  EXPECT_EQ(checks.error().exit_code, ExitCode::kUsage);
  EXPECT_THAT(checks.error().message, HasSubstr("no such program"));
}

}  // namespace
}  // namespace leakgate
