// Real runs, merged: shards, jobs that ran side by side, and a history of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/html_page.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// One shard of a fixture, written to a file of its own.
CommandResult RunShard(const TemporaryDirectory& directory, const std::string& fixture, int index,
                       int total, const std::string& filter = "*") {
  return Leakgate(
      {"run", "--confirm=off", "--report", "json=" + directory.File("{binary}-{shard}.json"), "--",
       FixturePath(fixture), "--gtest_filter=" + filter},
      {.environment = {"GTEST_TOTAL_SHARDS=" + std::to_string(total),
                       "GTEST_SHARD_INDEX=" + std::to_string(index)}});
}

TEST(MergeTest, AllShardsComeToWhatOneRunDoes) {
  const TemporaryDirectory directory;
  // Each loses its blocks itself: what one test keeps until another replaces it is lost only where
  // one process runs both.
  for (int i = 0; i < 3; ++i) (void)RunShard(directory, "call_sites_listener", i, 3);
  const TemporaryDirectory whole;
  (void)RunShard(whole, "call_sites_listener", 0, 1);

  const std::string merged = directory.File("merged.json");
  const CommandResult shards = Leakgate({"merge", directory.path(), "-o", merged});
  const CommandResult one = Leakgate({"merge", whole.path()});
  EXPECT_EQ(shards.exit_code, one.exit_code) << shards.standard_error << one.standard_error;
  const auto tests_of = [](const std::string& text) {
    const std::size_t begin = text.find("; ", text.rfind("\nleakgate: "));
    return text.substr(begin, text.find(" over budget", begin) - begin);
  };
  EXPECT_EQ(tests_of(shards.standard_error), tests_of(one.standard_error));
  const auto report = nlohmann::json::parse(ReadFile(merged));
  EXPECT_EQ(report["schema"], "leakgate-merged-1");
  ASSERT_EQ(report["runs"].size(), 3u);
  EXPECT_EQ(report["runs"][2]["shard"], nlohmann::json({{"index", 2}, {"total", 3}}));
}

TEST(MergeTest, ThePageComparesWithTheBaselineAndTheVerdictStays) {
  const TemporaryDirectory directory;
  const std::string run = directory.File("run.json");
  (void)Leakgate({"run", "--report", "json=" + run, "--", FixturePath("kinds_listener"),
                  "--gtest_filter=Kinds.Malloc"});
  const std::string baseline = directory.Write("before.json", ReadFile(run));
  const std::string page = directory.File("page.html");
  // The baseline is in the directory of results, and is none of them.
  const CommandResult merged =
      Leakgate({"merge", directory.path(), "--baseline", baseline, "--report", "html=" + page});
  EXPECT_EQ(merged.exit_code, 1) << merged.standard_error;
  EXPECT_THAT(merged.standard_error, HasSubstr("1 run of 1 binary"));
  const nlohmann::json report = ReportInPage(ReadFile(page));
  ASSERT_EQ(report["baseline"].size(), 1u);
  EXPECT_EQ(report["baseline"][0]["windows"].size(), report["runs"][0]["windows"].size());
}

TEST(MergeTest, ThePageShowsAHistoryWithoutTheRunsThatItTellsOf) {
  const TemporaryDirectory directory;
  (void)RunShard(directory, "kinds_listener", 0, 1, "Kinds.Malloc");
  const std::string before = directory.File("kinds_listener-0.json");
  const std::string history = directory.File("leaks.sqlite");
  const CommandResult added = Leakgate({"history", "add", history, before, "--commit", "aaa"});
  ASSERT_EQ(added.exit_code, 0) << added.standard_error;

  const std::string page = directory.File("page.html");
  const CommandResult run =
      Leakgate({"run", "--confirm=off", "--history", history, "--report", "html=" + page, "--",
                FixturePath("kinds_listener"), "--gtest_filter=Kinds.Malloc"});
  ASSERT_NE(run.exit_code, 2) << run.standard_error;
  const nlohmann::json moments = ReportInPage(ReadFile(page))["history"]["moments"];
  ASSERT_EQ(moments.size(), 1u);
  EXPECT_EQ(moments[0][0], "aaa");
  EXPECT_GT(moments[0][2], 0);

  const CommandResult merged =
      Leakgate({"merge", before, "--history", history, "--report", "html=" + page});
  ASSERT_NE(merged.exit_code, 2) << merged.standard_error;
  EXPECT_EQ(ReportInPage(ReadFile(page))["history"]["moments"].size(), 0u);
}

TEST(MergeTest, AHistoryThatIsNoneIsToldBeforeAnythingRuns) {
  const TemporaryDirectory directory;
  const std::string other = directory.Write("other.json", "{}");
  const std::string mark = directory.File("mark");
  const std::string page = directory.File("page.html");
  for (const std::string& history : {directory.File("none.sqlite"), other}) {
    const CommandResult run = Leakgate(
        {"run", "--history", history, "--report", "html=" + page, "--", "/usr/bin/touch", mark});
    EXPECT_EQ(run.exit_code, 2) << run.standard_error;
    EXPECT_THAT(run.standard_error, HasSubstr(history));
    const CommandResult merged = Leakgate({"merge", directory.File("no_result.json"), "--history",
                                           history, "--report", "html=" + page});
    EXPECT_EQ(merged.exit_code, 2);
    EXPECT_THAT(merged.standard_error, HasSubstr(history));
  }
  EXPECT_FALSE(std::filesystem::exists(mark));
  EXPECT_FALSE(std::filesystem::exists(page));
}

TEST(MergeTest, ABaselineThatCannotBeReadLeavesThePageAsItWas) {
  const TemporaryDirectory directory;
  (void)RunShard(directory, "kinds_listener", 0, 1, "Kinds.Malloc");
  const TemporaryDirectory out;
  const std::string cut = out.Write("cut.json", "{\"schema\": \"leakgate-rep");
  const std::string page = out.Write("page.html", "as it was");
  const CommandResult merged =
      Leakgate({"merge", directory.path(), "--baseline", cut, "--report", "html=" + page});
  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(merged.standard_error, HasSubstr("cut.json:1:25: the file was cut off here"));
  EXPECT_EQ(ReadFile(page), "as it was");
}

TEST(MergeTest, AMissingShardIsInconclusive) {
  const TemporaryDirectory directory;
  (void)RunShard(directory, "policy_listener", 0, 2, "Resources.LeavesNothing");
  const CommandResult merged = Leakgate({"merge", directory.path()});
  EXPECT_EQ(merged.exit_code, 3) << merged.standard_error;
  EXPECT_THAT(merged.standard_error, HasSubstr("inconclusive: of the 2 shards of "));
  EXPECT_THAT(merged.standard_error, HasSubstr("no result of 2"));
}

TEST(MergeTest, SaysWhichReportIsNotWholeAndWritesNothing) {
  const TemporaryDirectory directory;
  (void)RunShard(directory, "policy_listener", 0, 1, "Resources.LeavesNothing");
  const std::string name = directory.File("policy_listener-0.json");
  auto report = nlohmann::ordered_json::parse(ReadFile(name));
  report["windows"][0].erase("findings");
  const std::string broken = directory.Write("broken.json", report.dump());
  const std::string junit = directory.File("out.xml");
  const CommandResult merged = Leakgate({"merge", broken, "--report", "junit=" + junit});

  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(merged.standard_error,
              testing::ContainsRegex("broken.json:1:[0-9]+: what ends here lacks \"findings\"; "
                                     "run again what wrote it"));
  EXPECT_FALSE(std::filesystem::exists(junit));
}

TEST(MergeTest, TheOrderAndRepetitionOfResultsDoNotMatter) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 3; ++i) (void)RunShard(directory, "kinds_listener", i, 3);
  const auto file = [&](int i) {
    return directory.File("kinds_listener-" + std::to_string(i) + ".json");
  };
  const TemporaryDirectory out;
  (void)Leakgate({"merge", file(0), file(1), file(2), "-o", out.File("a")});
  (void)Leakgate({"merge", file(2), file(0), file(1), file(0), "-o", out.File("b")});
  (void)Leakgate({"merge", file(1), out.File("a"), "-o", out.File("c")});
  EXPECT_THAT(ReadFile(out.File("a")), HasSubstr("leakgate-merged-1"));
  EXPECT_EQ(ReadFile(out.File("a")), ReadFile(out.File("b")));
  EXPECT_EQ(ReadFile(out.File("a")), ReadFile(out.File("c")));
}

TEST(MergeTest, ACutOffResultIsAnErrorAndNothingIsWritten) {
  const TemporaryDirectory directory;
  (void)RunShard(directory, "kinds_listener", 0, 1);
  const std::string text = ReadFile(directory.File("kinds_listener-0.json"));
  const std::string cut = directory.Write("cut.json", text.substr(0, text.size() / 2));
  const std::string output = directory.Write("merged.json", "old");
  const CommandResult merged = Leakgate({"merge", cut, "-o", output});
  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(merged.standard_error,
              testing::ContainsRegex("cut.json:[0-9]+:[0-9]+: the file was cut off"));
  EXPECT_EQ(ReadFile(output), "old");
}

TEST(MergeTest, NoResultsAreNoPass) {
  const TemporaryDirectory directory;
  const CommandResult merged = Leakgate({"merge", directory.path()});
  EXPECT_EQ(merged.exit_code, 3);
  EXPECT_THAT(merged.standard_error, HasSubstr("inconclusive; no runs"));
}

TEST(MergeTest, ShardsThatGnuParallelRunsSideBySideWriteApart) {
  if (std::system("command -v parallel >/dev/null") != 0) GTEST_SKIP() << "no GNU parallel here";
  const TemporaryDirectory directory;
  const std::string script = std::string(LEAKGATE_SOURCE_DIR) + "/examples/many_jobs/parallel";
  const CommandResult parallel =
      RunCommand({script, "4", directory.path(), FixturePath("kinds_listener")},
                 {.environment = {"LEAKGATE=" + LeakgatePath()}});
  EXPECT_EQ(parallel.exit_code, 1) << parallel.standard_error;
  EXPECT_THAT(parallel.standard_error, HasSubstr("leakgate: 4 runs of 1 binary; "));
  EXPECT_THAT(parallel.standard_error, Not(HasSubstr("no result of")));
}

TEST(MergeTest, ShardsOfAnEarlierRunInParallelDoNotCount) {
  if (std::system("command -v parallel >/dev/null") != 0) GTEST_SKIP() << "no GNU parallel here";
  const TemporaryDirectory directory;
  const std::string script = std::string(LEAKGATE_SOURCE_DIR) + "/examples/many_jobs/parallel";
  const auto run = [&](const std::string& shards) {
    return RunCommand({script, shards, directory.path(), FixturePath("kinds_listener")},
                      {.environment = {"LEAKGATE=" + LeakgatePath()}});
  };
  (void)run("3");
  const CommandResult parallel = run("2");
  EXPECT_EQ(parallel.exit_code, 1) << parallel.standard_error;
  EXPECT_THAT(parallel.standard_error, HasSubstr("leakgate: 2 runs of 1 binary; "));
  EXPECT_THAT(parallel.standard_error, Not(HasSubstr("no result of")));
}

TEST(MergeTest, ShardsOfASlurmArrayWriteApart) {
  if (std::system("command -v sbatch >/dev/null && sinfo >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no Slurm here";
  }
  const TemporaryDirectory directory;
  const std::string script = std::string(LEAKGATE_SOURCE_DIR) + "/examples/many_jobs/slurm";
  const CommandResult slurm =
      RunCommand({"sbatch", "--wait", "--array=0-3", "--output=" + directory.File("%a.txt"), script,
                  directory.path(), FixturePath("kinds_listener")},
                 {.environment = {"LEAKGATE=" + LeakgatePath()}});
  EXPECT_NE(slurm.exit_code, -1);
  const CommandResult merged = Leakgate({"merge", directory.path(), "--expect", "4"});
  EXPECT_EQ(merged.exit_code, 1) << slurm.standard_error << merged.standard_error;
}

// What Slurm tells a job of an array, without Slurm.
TEST(MergeTest, AJobOfAnArrayTakesItsShardFromSlurmsVariables) {
  const TemporaryDirectory directory;
  const std::string script = std::string(LEAKGATE_SOURCE_DIR) + "/examples/many_jobs/slurm";
  for (const char* task : {"10", "11"}) {
    (void)RunCommand({script, directory.path(), FixturePath("kinds_listener")},
                     {.environment = {"LEAKGATE=" + LeakgatePath(), "SLURM_ARRAY_JOB_ID=7",
                                      std::string("SLURM_ARRAY_TASK_ID=") + task,
                                      "SLURM_ARRAY_TASK_MIN=10", "SLURM_ARRAY_TASK_COUNT=2"}});
  }
  const CommandResult merged = Leakgate({"merge", directory.path(), "--expect", "2"});
  EXPECT_EQ(merged.exit_code, 1) << merged.standard_error;
  EXPECT_THAT(merged.standard_error, HasSubstr("leakgate: 2 runs of 1 binary; "));
}

// What Bazel tells a test, without Bazel; the test example.bazel has Bazel itself.
TEST(MergeTest, AReportGoesToBazelsUndeclaredOutputs) {
  const TemporaryDirectory directory;
  const CommandResult run = Leakgate(
      {"run", "--confirm=off", "--report", "json={outputs}/{binary}-{shard}.json", "--",
       FixturePath("kinds_listener")},
      {.environment = {"TEST_UNDECLARED_OUTPUTS_DIR=" + directory.path(), "TEST_TOTAL_SHARDS=2",
                       "TEST_SHARD_INDEX=1", "GTEST_TOTAL_SHARDS=2", "GTEST_SHARD_INDEX=1",
                       "GTEST_SHARD_STATUS_FILE=" + directory.File("status"),
                       "XML_OUTPUT_FILE=" + directory.File("test.xml")}});
  EXPECT_EQ(run.exit_code, 1) << run.standard_error;
  const auto report = nlohmann::json::parse(ReadFile(directory.File("kinds_listener-1.json")));
  EXPECT_EQ(report["shard"]["index"], 1);
  EXPECT_THAT(ReadFile(directory.File("test.xml")), HasSubstr("<testsuites"));
}

TEST(MergeTest, AHistoryKeepsTheRunsOfEachCommitOnce) {
  const TemporaryDirectory directory;
  (void)RunShard(directory, "kinds_listener", 0, 1);
  const std::string report = directory.File("kinds_listener-0.json");
  const std::string history = directory.File("leaks.sqlite");
  for (int i = 0; i < 2; ++i) {
    const CommandResult added = Leakgate(
        {"history", "add", history, report, "--commit", "3f2a", "--time", "2026-01-31T12:00:00Z"});
    EXPECT_EQ(added.exit_code, 0) << added.standard_error;
    EXPECT_THAT(added.standard_error,
                HasSubstr(i == 0 ? ": 1; there already: 0" : ": 0; there already: 1"));
  }
  const auto shown = nlohmann::json::parse(
      Leakgate({"history", "show", history, "--test", "Kinds.Malloc", "--json"}).standard_output);
  ASSERT_EQ(shown["findings"].size(), 1u);
  EXPECT_EQ(shown["findings"][0]["bytes"], 100);
  EXPECT_EQ(shown["findings"][0]["first"]["commit"], "3f2a");
  EXPECT_THAT(
      Leakgate({"history", "trend", history, "--test"}).standard_output,
      HasSubstr("Kinds.Malloc\n  3f2a (2026-01-31T12:00:00Z)  100 B in 1 block outstanding"));
  EXPECT_EQ(Leakgate({"history", "add", report, report}).exit_code, 2);
}

// A shard that did not arrive is no leak that went.
TEST(MergeTest, ATrendLeavesOutWhatOnlyOneCommitRan) {
  const TemporaryDirectory whole;
  const TemporaryDirectory half;
  (void)RunShard(whole, "kinds_listener", 0, 1);
  (void)RunShard(half, "kinds_listener", 0, 2);
  const std::string history = whole.File("leaks.sqlite");
  (void)Leakgate({"history", "add", history, whole.File("kinds_listener-0.json"), "--commit", "aaa",
                  "--time", "2026-01-01T00:00:00Z"});
  const CommandResult added =
      Leakgate({"history", "add", history, half.File("kinds_listener-0.json"), "--commit", "bbb",
                "--time", "2026-01-02T00:00:00Z"});
  ASSERT_EQ(added.exit_code, 0) << added.standard_error;
  const auto trend =
      nlohmann::json::parse(Leakgate({"history", "trend", history, "--json"}).standard_output);
  ASSERT_EQ(trend["points"].size(), 2U);
  EXPECT_LT(trend["points"][1]["outstanding"]["blocks"],
            trend["points"][0]["outstanding"]["blocks"]);
  const nlohmann::json& change = trend["points"][1]["change"];
  EXPECT_EQ(change["bytes"], 0);
  EXPECT_EQ(change["only_now"], 0);
  EXPECT_GT(change["only_before"], 0);
  const std::string text = Leakgate({"history", "trend", history}).standard_output;
  EXPECT_THAT(text, HasSubstr("ran at only one of the two commits ("));
  EXPECT_THAT(text, Not(HasSubstr("(-")));
}

}  // namespace
}  // namespace leakgate::test
