// What many runs say together, and the verdict on them.
#include "runner/results/merged_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/results/reports.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class MergedRunsTest : public merging::ReportsTest {
 protected:
  void Add(const RunResult& run) {
    const auto path = Write(std::to_string(++files_) + ".json", ToJson(run));
    const auto read = ReadResults(path, [this](RunResult&& result, const RunPlace& place) {
      runs_.Add(std::move(result), place);
    });
    ASSERT_TRUE(read) << read.error().message;
  }
  int Code(std::optional<std::int64_t> expected = std::nullopt) const {
    return static_cast<int>(VerdictOn(runs_, expected).exit_code);
  }
  std::string Summary(std::optional<std::int64_t> expected = std::nullopt) const {
    const auto causes = runs_.causes().Largest(kMostCauses);
    EXPECT_TRUE(causes);
    return MergeSummary(runs_, VerdictOn(runs_, expected), *causes, {}, {Colour::kOff, ""});
  }

  int files_ = 0;
  MergedRuns runs_;
};

RunResult ShardOf(int index, int total) {
  RunResult run = merging::PassingRun();
  run.shard = Shard{index, total};
  return run;
}

TEST_F(MergedRunsTest, PassesWhereAllRunsDo) {
  Add(merging::PassingRun("a"));
  Add(merging::PassingRun("b"));
  EXPECT_EQ(Code(), 0);
  EXPECT_EQ(Summary(), "leakgate: 2 runs of 2 binaries; 2 tests: 2 pass\n");
}

TEST_F(MergedRunsTest, FailsWhereOneRunDoesAndNamesTheTestAndItsBinary) {
  Add(merging::PassingRun("a"));
  Add(merging::FailingRun("build/b"));
  EXPECT_EQ(Code(), 1);
  EXPECT_THAT(Summary(), HasSubstr("2 tests: 1 pass, 1 over budget; 1 run failed"));
  EXPECT_THAT(Summary(), HasSubstr("HttpTest.KeepAlive (build/b)\n"));
}

TEST_F(MergedRunsTest, CountsATestAsSkippedWhereNoRunHadItRun) {
  RunResult skipped = merging::PassingRun("a");
  skipped.windows.front().status = TestStatus::kSkipped;
  Add(skipped);
  Add(merging::PassingRun("b"));
  EXPECT_EQ(Summary(), "leakgate: 2 runs of 2 binaries; 2 tests: 1 pass, 1 skipped\n");
  RunResult later = merging::PassingRun("a");
  later.arguments = {"--again"};
  Add(later);
  EXPECT_THAT(Summary(), HasSubstr("; 2 tests: 2 pass\n"));
}

TEST_F(MergedRunsTest, NoRunIsNoPass) {
  EXPECT_EQ(Code(), 3);
  EXPECT_THAT(Summary(), HasSubstr("leakgate: inconclusive; no runs\n"));
}

TEST_F(MergedRunsTest, CountsARunThatIsGivenTwiceOnce) {
  Add(merging::PassingRun());
  Add(merging::PassingRun());
  EXPECT_EQ(runs_.size(), 1u);
  EXPECT_EQ(runs_.CountTests(), (std::map<Verdict, std::int64_t>{{Verdict::kPass, 1}}));
  EXPECT_THAT(Summary(), HasSubstr("; 1 run given again, counted once\n"));
}

TEST_F(MergedRunsTest, IsInconclusiveWhereARunIs) {
  RunResult run = merging::PassingRun();
  run.verdict = Verdict::kInconclusive;
  run.reasons = {"2 allocations were not recorded"};
  run.exit_code = 3;
  Add(run);
  EXPECT_EQ(Code(), 3);
  EXPECT_THAT(Summary(),
              HasSubstr("  inconclusive: 2 allocations were not recorded (build/http_test)\n"));
}

TEST_F(MergedRunsTest, FailsForAProgramThatFailedAlthoughItsMemoryPassed) {
  RunResult run = merging::PassingRun();
  run.program.exit_code = 5;
  run.exit_code = 5;
  Add(run);
  EXPECT_EQ(Code(), 1);
  EXPECT_THAT(Summary(), HasSubstr("  failed: the program exited with 5 (build/http_test)\n"));
}

TEST_F(MergedRunsTest, AProgramsOwnExitCode3IsAFailureAndNoDoubt) {
  RunResult run = merging::PassingRun();
  run.program.exit_code = 3;
  run.exit_code = 3;
  Add(run);
  EXPECT_EQ(Code(), 1);
}

TEST_F(MergedRunsTest, ARunThatOnlyWarnsFailsForNothingThatItFound) {
  RunResult run = merging::FailingRun();
  run.mode = GateMode::kWarnOnly;
  run.exit_code = 0;
  Add(run);
  EXPECT_EQ(Code(), 0);
  EXPECT_THAT(Summary(), HasSubstr("--warn-only: 1 run"));
}

TEST_F(MergedRunsTest, ARunThatOnlyWarnsFailsForItsProgram) {
  RunResult run = merging::PassingRun();
  run.mode = GateMode::kWarnOnly;
  run.program = {std::nullopt, 11};
  run.exit_code = 139;
  Add(run);
  EXPECT_EQ(Code(), 1);
}

TEST_F(MergedRunsTest, IsInconclusiveWhereFewerRunsAreThanExpected) {
  Add(merging::PassingRun());
  EXPECT_EQ(Code(1), 0);
  EXPECT_EQ(Code(2), 3);
  EXPECT_THAT(Summary(2),
              HasSubstr("  inconclusive: 2 runs expected (--expect), and there is 1\n"));
}

TEST_F(MergedRunsTest, NoticesThatAShardIsMissing) {
  Add(ShardOf(0, 4));
  Add(ShardOf(3, 4));
  EXPECT_EQ(Code(), 3);
  EXPECT_THAT(runs_.MissingShards(),
              ElementsAre("of the 4 shards of build/http_test, no result of 2 to 3"));
}

TEST_F(MergedRunsTest, IsContentWithAllShardsWhateverElseTheirArgumentsAre) {
  for (int i = 0; i < 3; ++i) {
    RunResult run = ShardOf(i, 3);
    run.arguments = {"--gtest_output=xml:" + std::to_string(i) + ".xml"};
    Add(run);
  }
  EXPECT_THAT(runs_.MissingShards(), IsEmpty());
  EXPECT_EQ(Code(), 0);
}

TEST_F(MergedRunsTest, TellsTheShardsOfOtherTestsApart) {
  for (int i = 0; i < 2; ++i) {
    RunResult run = ShardOf(i, 2);
    run.arguments = {i == 0 ? "--gtest_filter=A*" : "--gtest_filter=B*"};
    Add(run);
  }
  EXPECT_EQ(runs_.MissingShards().size(), 2u);
}

TEST_F(MergedRunsTest, SaysOfATestWithDifferentVerdictsThatItIsFlaky) {
  Add(merging::PassingRun());
  Add(merging::FailingRun());
  EXPECT_THAT(Summary(), HasSubstr("  flaky: HttpTest.KeepAlive (build/http_test): pass, over "
                                   "budget in different runs\n"));
}

TEST_F(MergedRunsTest, ATestOfAnotherBinaryIsAnother) {
  Add(merging::PassingRun("a"));
  Add(merging::FailingRun("b"));
  EXPECT_THAT(Summary(), Not(HasSubstr("flaky")));
}

TEST_F(MergedRunsTest, SortsByBinaryArgumentsAndShardWhateverCameFirst) {
  Add(merging::PassingRun("b"));
  RunResult with_arguments = merging::PassingRun("a");
  with_arguments.arguments = {"x"};
  Add(with_arguments);
  Add(ShardOf(1, 2));
  Add(ShardOf(0, 2));
  Add(merging::PassingRun("a"));
  std::vector<std::string> order;
  for (const MergedRun* run : runs_.Sorted()) {
    order.push_back(run->binary + std::to_string(run->arguments.size()) +
                    (run->shard ? std::to_string(run->shard->index) : ""));
  }
  EXPECT_THAT(order, ElementsAre("a0", "a1", "b0", "build/http_test00", "build/http_test01"));
}

TEST_F(MergedRunsTest, NamesOnlySoManyFailures) {
  for (int i = 0; i < 150; ++i) Add(merging::FailingRun("build/b" + std::to_string(i)));
  EXPECT_EQ(runs_.failures().size(), 10u);
  EXPECT_THAT(Summary(),
              HasSubstr("  net  18.8 KiB in 300 blocks outstanding  budget 0 B  150 tests  "));
}

}  // namespace
}  // namespace leakgate
