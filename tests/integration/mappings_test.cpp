// What tests map themselves: told by call site, limited apart from the heap, and never
// taken for what allocators and ended threads keep.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/integration/both_modes.h"
#include "tests/support/command.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr long kMappedPage = 4096;

class MappingsTest : public BothModes {
 protected:
  GatedRun RunWithin(const std::string& filter, const std::string& budget,
                     const std::string& fixture = "mappings", const CommandOptions& options = {}) {
    const std::string file =
        directory_.Write("a.leakgate.json", "{\"component\": \"a\",\n" + budget + "}\n");
    return RunByDefault({Fixture(fixture), "--gtest_filter=" + filter}, {"--budgets", file},
                        options);
  }
  GatedRun RunLimited(const std::string& filter, const std::string& limit,
                      const std::string& more = "") {
    return RunWithin(filter, R"("limits": {"test": {"mapped": )" + limit + "}}" + more);
  }

  // What the window has left mapped, and its verdict.
  static Outcome MappedIn(const nlohmann::json& window) {
    if (window.is_null()) return {};
    Outcome outcome{
        window["verdict"], window.value("mapped_bytes", 0), window.value("mapped_blocks", 0), {}};
    for (const nlohmann::json& finding : window.value("mappings", nlohmann::json::array())) {
      outcome.leaks.push_back(LeakFrom(finding));
    }
    return outcome;
  }
  static Leak PagesBy(long pages, long mappings, const std::string& kind,
                      const std::string& function, const std::string& marker) {
    return {pages * kMappedPage, mappings, kind, function, PlaceOf("mappings.cpp", marker)};
  }
  static std::string BodyOf(std::string test) {
    test[test.find('.')] = '_';
    return test + "_Test::TestBody()";
  }
  static std::vector<std::string> MetricsOver(const nlohmann::json& window) {
    std::vector<std::string> metrics;
    for (const nlohmann::json& violation : window["violations"]) {
      metrics.push_back(violation["metric"]);
    }
    return metrics;
  }

  TemporaryDirectory directory_;
};

constexpr const char* kNone = R"({"bytes": 0, "blocks": 0})";

TEST_P(MappingsTest, ChargesEachWayToMapToItsLine) {
  struct Way {
    std::string test;
    long pages;
    long mappings;
    std::string kind;
    std::string marker;
  };
  const std::vector<Way> ways = {
      {"Mapped.LeavesPages", 4, 1, "mapped", "pages"},
      {"Mapped.LeavesAPartOfAPage", 1, 1, "mapped", "part of a page"},
      {"Mapped.UnmapsHeadAndTail", 2, 1, "mapped", "trimmed"},
      {"Mapped.UnmapsTheMiddle", 3, 2, "mapped", "middle"},
      {"Mapped.ReplacesAll", 2, 1, "mapped", "replaced"},
      {"Mapped.FailsToReplace", 2, 1, "mapped", "kept"},
      {"Mapped.FailsToUnmap", 2, 1, "mapped", "stays"},
      {"Mapped.MovesTheBreak", 3, 1, "mapped", "break"},
      {"Mapped.MapsByNumber", 2, 1, "mapped", "number"},
      {"Mapped.LeavesAFile", 2, 1, "mapped file", "file"},
      {"Mapped.LeavesSharedPages", 1, 1, "shared memory", "shared"},
      {"Mapped.LeavesASegment", 3, 1, "shared memory", "segment"},
      {"Mapped.Grows", 64, 1, "mapped", "grown"},
      {"Mapped.Shrinks", 2, 1, "mapped", "shrunk"},
      {"Mapped.Moves", 2, 1, "mapped", "moved"},
      {"Mapped.FailsToMove", 1, 1, "mapped", "unmoved"},
      {"Mapped.ShowsSharedPagesTwice", 1, 1, "shared memory", "second view"},
      {"Mapped.CommitsBitByBit", 4, 1, "mapped", "committed"},
      {"Mapped.ProtectsWhatItLeaves", 4, 1, "mapped", "written"},
      {"MappedBefore.MapsFirst", 2, 1, "mapped", "first"},
      {"MappedBefore.ThenGrows", 254, 1, "mapped", "growth"},
      {"MappedBefore.ThenUnmapsAndMapsOne", 1, 1, "mapped", "last"},
  };
  const GatedRun run = RunLimited("Mapped.*:MappedBefore.*", kNone);
  for (const Way& way : ways) {
    EXPECT_EQ(
        MappedIn(run.Test(way.test)),
        OverBudget({PagesBy(way.pages, way.mappings, way.kind, BodyOf(way.test), way.marker)}))
        << way.test;
  }
  const std::string place = PlaceOf("leaky_plugin.cpp", "mapped by a plugin");
  EXPECT_EQ(MappedIn(run.Test("Mapped.MapsInALibraryThatBindsDeeply")),
            OverBudget({{5 * kMappedPage, 1, "mapped", "MapInPlugin", place}}));
  for (const char* const test :
       {"Unmaps", "UnmapsInHalves", "UnmapsTwoAtOnce", "DetachesASegment", "MovesAndUnmaps",
        "Reserves", "Decommits", "MovesTheBreakForthAndBack", "UnmapsByNumber",
        "MovesAndDetachesByNumber"}) {
    EXPECT_EQ(MappedIn(run.Test(std::string("Mapped.") + test)), Pass()) << test;
  }
  EXPECT_EQ(run.Test("Mapped.CommitsBitByBit")["reserved_bytes"], 1020 * kMappedPage);
  EXPECT_THAT(run.Test("Mapped.LeavesAFile")["left_behind"][0], HasSubstr(Fixture("mappings")));
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST_P(MappingsTest, TellsTheLimitTheCallSiteAndTheRemedy) {
  const GatedRun run = RunLimited("Mapped.LeavesPages", kNone);
  EXPECT_THAT(run.command.standard_output + run.command.standard_error,
              AllOf(HasSubstr("16.0 KiB in 1 mapping left mapped, budget 0 B"),
                    HasSubstr("a.leakgate.json:2"), HasSubstr("16.0 KiB in 1 mapping, mapped"),
                    HasSubstr("> Mapped_LeavesPages_Test::TestBody()"),
                    HasSubstr(PlaceOf("mappings.cpp", "pages") + ": Failure"),
                    HasSubstr(R"("mapped": { "bytes": 16384, "blocks": 1 })")));
}

TEST_P(MappingsTest, IsToldWithItsMappingsWhereReportsAreMerged) {
  const GatedRun run = RunLimited("Mapped.UnmapsTheMiddle", R"({"bytes": 0})");
  const std::string report = directory_.Write("run.json", run.report.dump());
  const CommandResult merged = RunCommand({LeakgatePath(), "merge", report});
  EXPECT_THAT(merged.standard_output + merged.standard_error,
              HasSubstr("12.0 KiB in 2 mappings left mapped"));
}

TEST_P(MappingsTest, PassesWhatEqualsTheLimitAndCountsMappings) {
  EXPECT_EQ(RunLimited("Mapped.UnmapsTheMiddle", R"({"bytes": 12288, "blocks": 2})")
                .Test("Mapped.UnmapsTheMiddle")["verdict"],
            "pass");
  EXPECT_THAT(
      MetricsOver(
          RunLimited("Mapped.UnmapsTheMiddle", R"({"blocks": 1})").Test("Mapped.UnmapsTheMiddle")),
      ElementsAre("mapped_blocks"));
}

TEST_P(MappingsTest, FailsWhatNothingLimitsIfItGrowsWithEachRepetition) {
  const GatedRun run =
      RunByDefault({Fixture("mappings"), "--gtest_filter=Mapped.LeavesPages"}, {"--verbose"});
  EXPECT_EQ(MappedIn(run.Test("Mapped.LeavesPages")),
            OverBudget({PagesBy(4, 1, "mapped", BodyOf("Mapped.LeavesPages"), "pages")}));
  // With those of the program's start.
  EXPECT_EQ(run.report["tracing"]["mapped"],
            nlohmann::json({{"bytes", 12 * kMappedPage}, {"blocks", 2}}));
  EXPECT_THAT(run.command.standard_output + run.command.standard_error,
              AllOf(HasSubstr("mapped: 48.0 KiB in 2 mappings left, of 48.0 KiB by 2 calls:"),
                    HasSubstr("16.0 KiB in 1 mapping by Mapped_LeavesPages_Test::TestBody"),
                    HasSubstr("grows by 1 mapping each time (in ")));
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST_P(MappingsTest, AllowsByCallStackAndByTest) {
  const nlohmann::json allowed =
      RunLimited("Mapped.LeavesPages", kNone,
                 R"(, "allowances": [{"stack": ["Mapped_LeavesPages_Test::*"], "blocks": 1,
                     "reason": "a pool"}])")
          .Test("Mapped.LeavesPages");
  EXPECT_EQ(allowed["verdict"], "pass");
  EXPECT_EQ(allowed["mappings"][0]["disposition"], "allowed");
  EXPECT_EQ(allowed["mappings"][0]["explanation"], "a pool");

  EXPECT_EQ(RunLimited("Mapped.LeavesPages", kNone,
                       R"(, "overrides": [{"tests": ["Mapped.*"], "reason": "a pool",
                           "limits": {"test": {"mapped": {"bytes": "16 KiB"}}}}])")
                .Test("Mapped.LeavesPages")["verdict"],
            "pass");
}

TEST_P(MappingsTest, MayBeUnmappedUntilTheSuitesEnd) {
  const GatedRun run = RunLimited("MappedBefore.*", kNone, R"(, "free_by": "suite")");
  EXPECT_EQ(run.Test("MappedBefore.MapsFirst")["verdict"], "pass");
  EXPECT_EQ(run.Test("MappedBefore.ThenGrows")["verdict"], "pass");
  EXPECT_EQ(run.Test("MappedBefore.ThenUnmapsAndMapsOne")["verdict"], "over_budget");
}

TEST_P(MappingsTest, IsLimitedForSuitesAndTheProgram) {
  const GatedRun run = RunWithin("MappedBySuite.*", R"("limits": {
    "test": {"mapped": {"bytes": 0}}, "suite": {"mapped": {"bytes": 0}},
    "program": {"mapped": {"bytes": 0}}})");
  EXPECT_EQ(run.Test("MappedBySuite.MapsNothing")["verdict"], "pass");
  EXPECT_EQ(MappedIn(run.Window("suite", "MappedBySuite")),
            OverBudget({PagesBy(9, 1, "mapped", "MappedBySuite::SetUpTestSuite()", "suite")}));
  const Outcome program = MappedIn(run.Window("program", "mappings_" + GetParam()));
  EXPECT_EQ(program.verdict, "over_budget");
  EXPECT_EQ(program.bytes, 8 * kMappedPage);
  ASSERT_EQ(program.leaks.size(), 1U);
  EXPECT_EQ(program.leaks[0].place, PlaceOf("mappings.cpp", "start"));
}

TEST_P(MappingsTest, IsChargedToTheComponentWhoseCodeMapped) {
  const nlohmann::json window = RunWithin("Threads.Run", R"("code": {"functions": ["Start"]},
    "limits": {"test": {"mapped": {"bytes": 0}}})")
                                    .Test("Threads.Run");
  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_EQ(window["violations"][0]["component"], "a");
  EXPECT_EQ(window["mappings"][0]["component"], "a");
}

TEST_P(MappingsTest, CountsTheStacksOfThreadsThatStillRunAndNoOthers) {
  const GatedRun run = RunLimited("Threads.*", kNone);
  EXPECT_EQ(MappedIn(run.Test("Threads.Run")),
            OverBudget({PagesBy(48, 1, "thread stack", "Start(void* (*)(void*))", "thread")}));
  EXPECT_EQ(
      MappedIn(run.Test("Threads.RunOnProvidedStacks")),
      OverBudget({PagesBy(48, 1, "mapped", BodyOf("Threads.RunOnProvidedStacks"), "provided")}));
  for (const char* const test : {"AreJoined", "EndAfterTheTest", "UnmapTheirStacks", "Fail"}) {
    EXPECT_EQ(MappedIn(run.Test(std::string("Threads.") + test)), Pass()) << test;
  }
}

TEST_P(MappingsTest, LeavesForkedProcessesAlone) {
  const GatedRun run = RunLimited("Processes.ForkedMapForThemselves", kNone);
  EXPECT_EQ(MappedIn(run.Test("Processes.ForkedMapForThemselves")), Pass());
  EXPECT_EQ(run.command.exit_code, 0);
}

TEST_P(MappingsTest, IsLimitedForChildProcesses) {
  const GatedRun run = RunWithin("Processes.StartThemselves", R"("processes": ["mappings_*"],
    "limits": {"process": {"mapped": {"bytes": 0}}})");
  const Outcome child = MappedIn(run.Window("process", "mappings_" + GetParam()));
  EXPECT_EQ(child.verdict, "over_budget");
  EXPECT_EQ(child.bytes, (4 + 8) * kMappedPage);
  EXPECT_EQ(run.Test("Processes.StartThemselves")["verdict"], "pass");
}

// tcmalloc extends the break first, where it is let.
TEST_P(MappingsTest, DoesNotCountWhatAnotherAllocatorMapsForItsBlocks) {
  const GatedRun run = RunWithin("Much.Allocates:Mapped.LeavesPages", R"("confirm": "off",
    "limits": {"test": {"mapped": {"bytes": 0}}})",
                                 "mappings_tcmalloc", {.environment = {"TCMALLOC_SKIP_SBRK=1"}});
  const nlohmann::json much = run.Test("Much.Allocates");
  EXPECT_GE(much["outstanding"]["bytes"], 400 * 5000);
  EXPECT_EQ(much["mapped_bytes"], 0);
  EXPECT_THAT(MetricsOver(much), IsEmpty());
  EXPECT_EQ(MappedIn(run.Test("Mapped.LeavesPages")).bytes, 4 * kMappedPage);
}

// The lines of the fixture that tell what calls gave.
std::string MarkedResultsIn(const std::string& output) {
  std::istringstream lines(output);
  std::string results;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("result: ")) results += line + "\n";
  }
  return results;
}

TEST_P(MappingsTest, ChangesNoResultOfACall) {
  const std::vector<std::string> program = {Fixture("mappings"), "--gtest_filter=Results.AreTold"};
  const std::string without = MarkedResultsIn(RunCommand(program).standard_output);
  const GatedRun run = RunByDefault(program);
  ASSERT_THAT(without, AllOf(HasSubstr("munmap unaligned -1 Invalid argument"),
                             HasSubstr("mprotect of what is gone -1 Cannot allocate memory")));
  EXPECT_EQ(MarkedResultsIn(run.command.standard_output), without);
  EXPECT_EQ(run.Test("Results.AreTold")["test_result"], "passed");
  EXPECT_FALSE(run.Test("Results.AreTold").contains("mappings"));
}

LEAKGATE_IN_BOTH_MODES(MappingsTest);

}  // namespace
}  // namespace leakgate::test
