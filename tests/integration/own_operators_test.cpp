// What only the bookkeeping of a program's own operator new leads to is lost.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/integration/findings.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

// What accounts.cpp does, by its name there.
const GatedRun& RunAccounts(const std::string& account, const std::string& what) {
  return SharedRunByDefault({FixturePath("accounts_" + account), what});
}

// By what the account is.
class AccountsTest : public testing::TestWithParam<std::string> {};

TEST_P(AccountsTest, DoNotHoldWhatTheProgramHasLost) {
  const GatedRun& run = RunAccounts(GetParam(), "keep,lose");
  EXPECT_EQ(run.command.exit_code, 1);
  const std::vector<nlohmann::json> findings = UsersFindings(run.report["windows"].back());
  const auto is_lost = [](const nlohmann::json& finding) {
    return finding.value("reach", "") == "lost";
  };
  ASSERT_EQ(std::count_if(findings.begin(), findings.end(), is_lost), 1);
  const nlohmann::json lost = *std::find_if(findings.begin(), findings.end(), is_lost);
  EXPECT_THAT(lost["stack"].dump(), HasSubstr("Lose()"));
  EXPECT_EQ(lost["explanation"],
            "only the bookkeeping of the program's own operator new leads to it");
}

TEST_P(AccountsTest, DoNotHoldWhatAnotherFormHasMade) {
  EXPECT_EQ(RunAccounts(GetParam(), "nothrow").command.exit_code, 1);
}

TEST_P(AccountsTest, LeaveWhatTheProgramStillHolds) {
  EXPECT_EQ(RunAccounts(GetParam(), "keep").command.exit_code, 0);
}

TEST_P(AccountsTest, MayFreeAllAtTheEnd) {
  EXPECT_EQ(RunAccounts(GetParam(), "keep,lose,free-all").command.exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AccountsTest, testing::Values("list", "table", "map", "in_library"),
                         [](const auto& kind) { return kind.param; });

TEST(OwnOperatorsTest, WithoutAnAccountHoldWhatTheyHold) {
  for (const std::string kind : {"count", "pool", "quarantine"}) {
    EXPECT_EQ(RunAccounts(kind, "keep").command.exit_code, 0) << kind;
  }
  EXPECT_EQ(RunAccounts("count", "lose").command.exit_code, 1);
  EXPECT_EQ(RunAccounts("quarantine", "lose").command.exit_code, 1);
}

TEST(OwnOperatorsTest, AreNotTriedWhereNothingIsToBeRepeated) {
  const GatedRun run = RunByDefault({FixturePath("accounts_list"), "lose"}, {"--confirm=off"});
  EXPECT_EQ(run.command.exit_code, 0);
}

// The runtime's nothrow form calls the program's own operator new, which puts a header in front.
TEST(OwnOperatorsTest, AreCalledByTheFormsThatTheProgramLeftToTheRuntime) {
  const GatedRun& run = RunAccounts("list", "nothrow,give");
  EXPECT_EQ(run.command.exit_code, 0);
  EXPECT_EQ(run.report["program"]["exit_code"], 0);
}

}  // namespace
}  // namespace leakgate::test
