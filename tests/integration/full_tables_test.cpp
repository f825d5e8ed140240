// A table of the agent's without room: what it could not record is counted, the reason is
// told with what to do, and nothing passes for it.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using Json = nlohmann::json;

GatedRun RunTest(const std::string& table, const std::string& test) {
  return RunGated({FixturePath("hostile_full_tables"), "--gtest_filter=Full.Table:" + test},
                  {"--confirm=off", "--timeout", "60"}, {.environment = {"TABLE=" + table}});
}

// Where it is full, something is dropped.
struct Table {
  const char* name;
  const char* drop;

  friend void PrintTo(const Table& table, std::ostream* stream) { *stream << table.name; }
};

class FullTablesTest : public testing::TestWithParam<Table> {};

TEST_P(FullTablesTest, LetNoLeakPass) {
  const GatedRun run = RunTest(GetParam().name, "Full.Loses");
  EXPECT_THAT(run.command.exit_code, AnyOf(1, 3)) << run.command.standard_error;
}

TEST_P(FullTablesTest, SayWhatIsMissingAndWhatToDo) {
  const GatedRun run = RunTest(GetParam().name, "Full.IsClean");
  EXPECT_GT(run.report["tracing"]["drops"].value(GetParam().drop, 0), 0) << run.report["tracing"];
  EXPECT_THAT(run.command.standard_error,
              HasSubstr(std::string("could not be recorded (") + GetParam().drop + "); "));
  EXPECT_EQ(run.report["verdict"], "inconclusive");
  EXPECT_EQ(run.command.exit_code, 3) << run.command.standard_error;
}

INSTANTIATE_TEST_SUITE_P(
    , FullTablesTest,
    testing::Values(Table{"windows", "window_table_full"}, Table{"shards", "no_thread_state"},
                    Table{"contexts", "context_table_full"}, Table{"text", "text_full"},
                    Table{"allowances", "allowance_table_full"},
                    Table{"measuring_windows", "measuring_window_table_full"},
                    Table{"chunks", "map_full"}, Table{"mappings", "mapping_table_full"}),
    [](const auto& test) { return std::string(test.param.name); });

// Where these are full, less is told of a finding, and each is found.
class FullTablesOfDetailTest : public testing::TestWithParam<const char*> {};

TEST_P(FullTablesOfDetailTest, HideNoLeak) {
  const GatedRun run = RunTest(GetParam(), "Full.Loses");
  EXPECT_EQ(run.command.exit_code, 1) << run.command.standard_error;
  EXPECT_EQ(run.Test("Full.Loses")["verdict"], "over_budget");
  EXPECT_EQ(run.Test("Full.Loses")["outstanding"]["bytes"], 100);
}

INSTANTIATE_TEST_SUITE_P(, FullTablesOfDetailTest,
                         testing::Values("threads", "modules", "earlier_frees", "free_errors",
                                         "own_ranges"),
                         [](const auto& test) { return std::string(test.param); });

// Blocks are counted all the same, but no longer told apart by where they were allocated.
TEST(FullTableOfStacksTest, LetsNothingPass) {
  EXPECT_EQ(RunTest("stacks", "Full.Loses").command.exit_code, 1);
  const GatedRun run = RunTest("stacks", "Full.IsClean");
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_EQ(run.Test("Full.IsClean")["verdict"], "inconclusive");
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("could not be recorded in full (stack_table_full); split the run"));
}

}  // namespace
}  // namespace leakgate::test
