// A recording of known content: its intervals, groups, moments, and the messages where there is no
// such moment. Its modules are nowhere, so frames are shown by their places in them.
#include "runner/recording/view/recording_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runner/recording/view/recording_diff.h"
#include "runner/recording/view/recording_groups.h"
#include "runner/recording/view/recording_moment.h"
#include "runner/recording/view/show_recording.h"
#include "runner/snapshot/view/show_snapshot.h"
#include "tests/unit/recording/view/sample_recording.h"

namespace leakgate {
namespace {

using sample::kMs;
using sample::kSiteA;
using sample::kSiteB;
using sample::Recording;
using sample::SmallRecording;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

RecordingTime Time(const std::string& text) {
  const Expected<RecordingTime> time = ParseRecordingTime("--at", text);
  EXPECT_TRUE(time) << time.error().message;
  return time.value_or(RecordingTime());
}

std::unique_ptr<RecordingView> NewView(RecordingQuery query) {
  return std::make_unique<RecordingView>(std::move(query), Symbolizer(nullptr, {}));
}

std::unique_ptr<RecordingView> View(const Recording& recording, RecordingQuery query = {}) {
  auto view = NewView(std::move(query));
  const Expected<void> read = view->Read(recording.Source(), "a.recording");
  EXPECT_TRUE(read) << read.error().message;
  return view;
}

std::unique_ptr<RecordingView> Between(const Recording& recording, const std::string& from,
                                       const std::string& to) {
  return View(recording, {.from = Time(from), .to = Time(to)});
}

std::string ErrorBetween(const std::optional<std::string>& from,
                         const std::optional<std::string>& to) {
  RecordingQuery query;
  if (from) query.from = Time(*from);
  if (to) query.to = Time(*to);
  const Expected<void> read = NewView(query)->Read(SmallRecording().Source(), "a.recording");
  if (read) return "no error";
  EXPECT_EQ(read.error().exit_code, ExitCode::kUsage);
  return read.error().message;
}

using Row = std::pair<std::string, std::uint64_t>;
std::vector<Row> Rows(RecordingView& view, GroupBy by, Weigh weigh) {
  std::vector<Row> rows;
  for (const RecordingGroup& group : GroupsOf(view, by, weigh)) {
    rows.emplace_back(group.name, SumOf(group.sums, weigh).bytes);
  }
  return rows;
}

TEST(RecordingViewTest, CountsTheWholeRecordingWithoutAnInterval) {
  const auto view = View(SmallRecording());
  const RecordedCounts& all = view->tally().all();
  EXPECT_EQ(all.total, (RecordedSum{1000 + 3000 + 50 + 5000 + 100, 14}));
  EXPECT_EQ(all.Outstanding(), (RecordedSum{1050, 2}));
  EXPECT_EQ(all.temporary, (RecordedSum{3100, 11}));  // not what the worker freed
  EXPECT_EQ(view->tally().peak().live, (RecordedSum{6050, 3}));
  EXPECT_EQ(view->tally().peak().time_ns, 1300 * kMs);
  EXPECT_EQ(view->tally().peak().window, 2U);
}

TEST(RecordingViewTest, GroupsBlocksByAllThatIsKnownOfThem) {
  const auto view = View(SmallRecording());
  using By = GroupBy;
  EXPECT_THAT(Rows(*view, By::kSite, Weigh::kPeak),
              ElementsAre(Row("net_test+0x1ff", 6000), Row("net_test+0x2ff", 50)));
  EXPECT_THAT(Rows(*view, By::kSite, Weigh::kTemporary),
              ElementsAre(Row("net_test+0x2ff", 3100), Row("net_test+0x1ff", 0)));
  EXPECT_THAT(Rows(*view, By::kStack, Weigh::kTotal), SizeIs(2));
  EXPECT_THAT(Rows(*view, By::kModule, Weigh::kTotal),
              ElementsAre(Row("/src/build/net_test", 9150)));
  EXPECT_THAT(Rows(*view, By::kThread, Weigh::kTotal),
              ElementsAre(Row("the main thread (net_test)", 9150)));
  EXPECT_THAT(
      Rows(*view, By::kWindow, Weigh::kTotal),
      ElementsAre(Row("Http.KeepAlive", 8050), Row("the program", 1000), Row("Http.Close", 100)));
  EXPECT_THAT(Rows(*view, By::kKind, Weigh::kTotal), ElementsAre(Row("malloc", 9150)));
  EXPECT_THAT(
      Rows(*view, By::kSize, Weigh::kPeak),
      ElementsAre(Row("4097 B to 8192 B", 5000), Row("513 B to 1024 B", 1000),
                  Row("33 B to 64 B", 50), Row("257 B to 512 B", 0), Row("65 B to 128 B", 0)));
  EXPECT_THAT(
      Rows(*view, By::kLifetime, Weigh::kTotal),
      ElementsAre(Row("below 1 us", 3000), Row("100 ms to 1 s", 5000), Row("1 s to 10 s", 100)));
}

TEST(RecordingViewTest, TellsHowLongTheBlocksOfASiteLived) {
  const auto view = View(SmallRecording());
  const std::vector<RecordingGroup> sites = GroupsOf(*view, GroupBy::kSite, Weigh::kTemporary);
  EXPECT_NEAR(static_cast<double>(sites[0].median_ns), 500, 500 / 8.0);
  EXPECT_EQ(sites[0].sums.longest_ns, 1400 * kMs);
}

TEST(RecordingViewTest, TellsTheFourKindsOfBlockOfAnInterval) {
  const auto view = Between(SmallRecording(), "test:Http.KeepAlive", "test:Http.KeepAlive");
  const RecordedCounts& all = view->tally().all();
  EXPECT_EQ(view->begin_ns(), 1000 * kMs);
  EXPECT_EQ(view->end_ns(), 2000 * kMs);
  EXPECT_EQ(all.inside_freed, (RecordedSum{8000, 11}));
  EXPECT_EQ(all.Outstanding(), (RecordedSum{50, 1}));
  EXPECT_EQ(all.before_freed, (RecordedSum{0, 0}));
  EXPECT_EQ(all.BeforeKept(), (RecordedSum{1000, 1}));
}

TEST(RecordingViewTest, TellsWhatOfTheImpactingSizeWasFreedLater) {
  const auto view = Between(SmallRecording(), "test:Http.Close", "test:Http.Close");
  EXPECT_EQ(view->tally().all().Outstanding(), (RecordedSum{100, 1}));
  EXPECT_EQ(view->tally().all().later, (RecordedSum{100, 1}));
  EXPECT_THAT(RecordingHeading(*view, {}),
              HasSubstr("100 B in 1 block: the impacting size; 100 B in 1 block of it were freed "
                        "later"));
}

TEST(RecordingViewTest, TakesMomentsByTimeMarkAndTest) {
  EXPECT_EQ(Between(SmallRecording(), "1.2s", "2500ms")->tally().all().total,
            (RecordedSum{5150, 3}));
  // The first mark of the name, and the second one.
  EXPECT_EQ(Between(SmallRecording(), "mark:loaded", "mark:loaded")->end_ns(), 2500 * kMs);
  EXPECT_EQ(Between(SmallRecording(), "mark:loaded#2", "mark:done")->begin_ns(), 2500 * kMs);
  EXPECT_EQ(Between(SmallRecording(), "begin", "end")->tally().all().total.blocks, 14U);
}

TEST(RecordingViewTest, NamesTheMomentThatIsNotThere) {
  EXPECT_EQ(ErrorBetween("test:Http.KeepAlife", {}),
            "--from test:Http.KeepAlife: no such test in a.recording; did you mean "
            "test:Http.KeepAlive?");
  EXPECT_EQ(ErrorBetween({}, "mark:something"),
            "--to mark:something: no such mark in a.recording; it has done, loaded");
  EXPECT_EQ(ErrorBetween("mark:loaded#3", {}),
            "--from mark:loaded#3: a.recording has the mark 'loaded', but not so often; name an "
            "earlier one");
  EXPECT_EQ(ErrorBetween("suite:Http", {}),
            "--from suite:Http: no such suite in a.recording; it has none");
  EXPECT_EQ(ErrorBetween("5s", {}),
            "--from 5s: a.recording is 4.00 s long; name an earlier moment");
}

TEST(RecordingViewTest, RefusesAnIntervalThatIsNone) {
  EXPECT_EQ(ErrorBetween("2s", "1s"), "--from 2s --to 1s: it ends before it begins; exchange them");
  EXPECT_EQ(ErrorBetween("2s", "2000ms"),
            "--from 2s --to 2000ms: an interval without length; name two different moments");
  EXPECT_EQ(ErrorBetween({}, "0s"),
            "--from begin --to 0s: an interval without length; name two different moments");
  EXPECT_EQ(ErrorBetween("end", {}),
            "--from end: nothing comes after the end; name an earlier moment");
  EXPECT_EQ(ErrorBetween("test:Http.Close", "test:Http.KeepAlive"),
            "--from test:Http.Close comes after --to test:Http.KeepAlive in a.recording; exchange "
            "them");
  EXPECT_EQ(ErrorBetween("mark:done", "1s"),
            "--from mark:done comes after --to 1s in a.recording; exchange them");
}

TEST(RecordingViewTest, ATestThatNeverEndsLastsToTheEnd) {
  Recording recording = SmallRecording();
  std::erase_if(recording.events, [](const RecordedEvent& event) {
    return event.kind == RecordedKind::kWindowEnds && event.window == 3;
  });
  EXPECT_EQ(Between(recording, "test:Http.Close", "test:Http.Close")->end_ns(), 4000 * kMs);
}

TEST(RecordingViewTest, ShowsOnlyChosenBlocks) {
  EXPECT_EQ(View(SmallRecording(), {.size_bytes = {.least = 1000}})->tally().all().total,
            (RecordedSum{6000, 2}));
  const auto long_lived = View(SmallRecording(), {.lifetime_ns = {.least = 1000 * kMs}});
  EXPECT_EQ(long_lived->tally().all().total, (RecordedSum{1150, 3}));
  EXPECT_THAT(
      RecordingHeading(*long_lived, {}),
      AllOf(HasSubstr("shown       blocks that lived 1 s and more"),
            HasSubstr("peak        not known for blocks that were chosen by their lifetimes")));
  EXPECT_TRUE(
      View(SmallRecording(), {.stacks = {.without = {"module:net_*"}}})->tally().all().IsEmpty());
}

TEST(RecordingViewTest, CountsWhatWasLiveBeforeTheRecording) {
  Recording recording = SmallRecording();
  recording.blocks = {{.address = 0x90000, .size_bytes = 70, .stack = kSiteA, .thread = 1},
                      {.address = 0x91000, .size_bytes = 30, .stack = kSiteA, .thread = 1}};
  recording.Free(3600 * kMs, 0x90000);
  const auto view = View(recording);
  EXPECT_EQ(view->tally().all().before_freed, (RecordedSum{70, 1}));
  EXPECT_EQ(view->tally().all().BeforeKept(), (RecordedSum{30, 1}));
  EXPECT_EQ(view->tally().peak().live.bytes, 6150U);
  EXPECT_THAT(ShowRecordingText(*view, {}, {}), HasSubstr("Blocks of the interval\n"));
}

TEST(RecordingViewTest, SaysWhatIsIncompleteWhereEventsWereLost) {
  Recording recording = SmallRecording();
  recording.events.push_back({.time_ns = 2600 * kMs,
                              .address = 2550 * kMs,
                              .size_bytes = 7,
                              .thread = 2,
                              .kind = RecordedKind::kLost});
  const auto view = View(recording);
  EXPECT_TRUE(IsIncomplete(*view));
  EXPECT_THAT(ShowRecordingText(*view, {}, {}),
              AllOf(HasSubstr("and 7 lost\n"),
                    HasSubstr("MISSING     7 events lost, in 1 span from 2.550 s to 2.600 s\n"),
                    HasSubstr("MISSING     7 events of thread 4243 (worker) lost from 2.550 s to "
                              "2.600 s\n"),
                    HasSubstr("9150 B in 14 blocks (incomplete)\n"),
                    HasSubstr("Call sites by peak (incomplete)\n")));
  // What ended before is whole.
  EXPECT_FALSE(IsIncomplete(*Between(recording, "begin", "2s")));
  EXPECT_FALSE(ShowRecordingJson(*view, {})["recording"]["interval"]["complete"]);
}

TEST(RecordingViewTest, EventsThatWereLostAtAnUnknownTimeMakeEverythingIncomplete) {
  Recording recording = SmallRecording();
  recording.closing.lost_events = 3;
  EXPECT_TRUE(IsIncomplete(*Between(recording, "begin", "2s")));
}

TEST(RecordingViewTest, APauseIsNotKnownEither) {
  Recording recording = SmallRecording();
  recording.events.push_back({.time_ns = 3600 * kMs, .kind = RecordedKind::kPause});
  recording.events.push_back({.time_ns = 3700 * kMs, .kind = RecordedKind::kContinue});
  EXPECT_THAT(RecordingHeading(*View(recording), {}),
              HasSubstr("paused from 3.600 s to 3.700 s: what happened then is not known"));
}

TEST(RecordingViewTest, AMomentIsASnapshot) {
  SnapshotView peak({}, Symbolizer(nullptr, {}));
  const auto view = View(SmallRecording());
  ASSERT_TRUE(peak.Read(SnapshotAt(SmallRecording().Source(), "a.recording", PeakOf(*view)),
                        "a.recording"));
  EXPECT_EQ(peak.tally().total(), (Amount{6050, 3}));
  EXPECT_THAT(ShowText(peak, {}, {}),
              AllOf(HasSubstr("the peak, 1.30 s after the recording began\n"),
                    HasSubstr("window     Http.KeepAlive\n"), HasSubstr("net_test+0x1ff")));

  SnapshotView later({}, Symbolizer(nullptr, {}));
  const RecordingMoment moment{.time = Time("mark:loaded#2"), .occasion = "mark:loaded#2"};
  ASSERT_TRUE(later.Read(SnapshotAt(SmallRecording().Source(), "a.recording", moment), "a"));
  EXPECT_EQ(later.tally().total(), (Amount{1150, 3}));
}

TEST(RecordingViewTest, APeakThatWasThereWhenTheIntervalBeganIsFound) {
  const auto view = Between(SmallRecording(), "1.55s", "3s");
  EXPECT_EQ(view->tally().peak().live.bytes, 6050U);
  EXPECT_EQ(view->tally().peak().event, 0U);
  SnapshotView peak({}, Symbolizer(nullptr, {}));
  ASSERT_TRUE(peak.Read(SnapshotAt(SmallRecording().Source(), "a", PeakOf(*view)), "a"));
  EXPECT_EQ(peak.tally().total(), (Amount{6050, 3}));
}

TEST(RecordingViewTest, AMomentThatNeverComesIsAnError) {
  SnapshotView view({}, Symbolizer(nullptr, {}));
  const Expected<void> read =
      view.Read(SnapshotAt(SmallRecording().Source(), "a", {.time = Time("5s")}), "a");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "--at 5s: a is 4.00 s long; name an earlier moment");
}

TEST(RecordingViewTest, TellsTheLivesOfCommits) {
  Recording recording = sample::EmptyRecording();
  recording.Map(RecordedKind::kMap, 100 * kMs, 0x100000, 0x10000, true);  // reserved
  recording.Map(RecordedKind::kCommit, 1000 * kMs, 0x102000, 0x4000);     // part of it
  recording.Map(RecordedKind::kDecommit, 2000 * kMs, 0x104000, 0x1000);   // a part of that
  recording.Map(RecordedKind::kMap, 2500 * kMs, 0x200000, 0x2000);        // used at once
  recording.Map(RecordedKind::kUnmap, 3000 * kMs, 0x200000, 0x2000);
  const auto view = View(recording, {.commits = 5});
  const CommitTally& commits = view->tally().commits();
  EXPECT_EQ(commits.all().total, (RecordedSum{0x6000, 2}));
  EXPECT_EQ(commits.all().outstanding, (RecordedSum{0x3000, 1}));
  EXPECT_EQ(commits.peak_bytes(), 0x5000U);
  const std::vector<Commit> largest = commits.Largest();
  ASSERT_THAT(largest, SizeIs(2));
  EXPECT_EQ(largest[0].bytes, 0x4000U);
  EXPECT_EQ(largest[0].impacting_bytes, 0x3000U);
  EXPECT_EQ(largest[0].decommitted_ns, 0U);
  EXPECT_EQ(largest[1].committed_ns, 2500 * kMs);
  EXPECT_EQ(largest[1].decommitted_ns, 3000 * kMs);
  EXPECT_THAT(ShowRecordingText(*view, {.group_by = GroupBy::kCommit}, {}),
              AllOf(HasSubstr("    16.0 KiB    12.0 KiB     1.000 s           -  mapped"),
                    HasSubstr("      8192 B         0 B     2.500 s     3.000 s  mapped")));
}

TEST(RecordingViewTest, AMappingOverAnotherEndsWhatItReplaces) {
  Recording recording = sample::EmptyRecording();
  recording.Map(RecordedKind::kMap, 1000 * kMs, 0x100000, 0x4000);
  recording.Map(RecordedKind::kMap, 2000 * kMs, 0x101000, 0x1000);
  recording.Map(RecordedKind::kUnmap, 3000 * kMs, 0x100000, 0x4000);
  const auto view = View(recording);
  EXPECT_EQ(view->tally().commits().all().total, (RecordedSum{0x5000, 2}));
  EXPECT_EQ(view->tally().commits().all().outstanding, (RecordedSum{0, 0}));
  EXPECT_EQ(view->tally().commits().all().longest_ns, 2000 * kMs);
}

TEST(RecordingViewTest, TheJsonHasEachSumOfEachGroup) {
  const auto view = View(SmallRecording());
  const nlohmann::ordered_json json = ShowRecordingJson(*view, {.group_by = GroupBy::kSite});
  EXPECT_EQ(json["schema"], "leakgate-recording-view-1");
  EXPECT_EQ(json["recording"]["interval"]["peak"]["bytes"], 6050);
  EXPECT_EQ(json["recording"]["interval"]["peak"]["window"], "Http.KeepAlive");
  ASSERT_EQ(json["tables"].size(), 1U);
  const nlohmann::ordered_json& row = json["tables"][0]["rows"][0];
  EXPECT_EQ(row["name"], "net_test+0x1ff");
  EXPECT_EQ(row["peak"]["bytes"], 6000);
  EXPECT_EQ(row["outstanding"]["bytes"], 1000);
  EXPECT_EQ(row["total"]["blocks"], 2);
  EXPECT_EQ(row["longest_ns"], 300 * kMs);
  EXPECT_EQ(row["stack"].size(), 2U);
}

TEST(RecordingViewTest, TheTreeHasWhatIsWeighed) {
  const auto view = View(SmallRecording());
  EXPECT_THAT(
      ShowRecordingText(*view, {.layout = SnapshotLayout::kTree, .weigh = Weigh::kOutstanding}, {}),
      HasSubstr("1050  100.0          2"));
}

TEST(RecordingViewTest, ComparesTwoRecordingsBySite) {
  Recording grown = SmallRecording();
  grown.Allocate(3800 * kMs, 0x70000, 9000, kSiteB, 1);
  const auto first = View(SmallRecording());
  const auto second = View(grown);
  const RecordingDiff diff = DiffRecordings(*first, *second, Weigh::kOutstanding);
  EXPECT_EQ(diff.sites[0].name, "net_test+0x2ff");
  EXPECT_EQ(diff.sites[0].sums.Growth(Weigh::kOutstanding), (Amount{9000, 1}));
  EXPECT_EQ(diff.sites[0].sums.Growth(Weigh::kTemporary), (Amount{0, 0}));
  EXPECT_THAT(RecordingDiffText(diff, {.weigh = Weigh::kOutstanding}, {}),
              AllOf(HasSubstr("  outstanding 1050 B in 2 blocks to 10050 B in 3 blocks: +9000 B"),
                    HasSubstr("Grown by outstanding\n"), Not(HasSubstr("Shrunk"))));
  EXPECT_EQ(RecordingDiffJson(diff, {})["sites"][0]["outstanding"]["growth"]["bytes"], 9000);
}

TEST(RecordingViewTest, HostileEventsDoNoHarm) {
  Recording recording = sample::EmptyRecording();
  recording.Allocate(1, 0, 8, kSiteA, 1);  // no address
  recording.Free(1, 0);
  recording.Free(2, 0x50, 65535);  // never allocated
  recording.Allocate(5000 * kMs, 0x10000, UINT64_MAX, kSiteA, 1);
  recording.Allocate(3, 0x10000, 16, kSiteA, 99999);  // back in time, and not freed
  recording.Map(RecordedKind::kMap, 4, UINT64_MAX - 16, UINT64_MAX);
  recording.Map(RecordedKind::kUnmap, 4, 16, UINT64_MAX);
  recording.Map(RecordedKind::kDecommit, 4, 0, 0);
  recording.Window(5, RecordedKind::kWindowEnds, 77);
  recording.Mark(6, 4000);
  const auto view = View(recording);
  EXPECT_THAT(ShowRecordingText(*view, {}, {}), HasSubstr("an unknown window"));
}

TEST(RecordingTimeTest, ReadsTimesInAllUnits) {
  EXPECT_EQ(Time("2.5s").time_ns, 2500 * kMs);
  EXPECT_EQ(Time("2.5").time_ns, 2500 * kMs);
  EXPECT_EQ(Time("300ms").time_ns, 300 * kMs);
  EXPECT_EQ(Time("7us").time_ns, 7000U);
  EXPECT_EQ(Time("9ns").time_ns, 9U);
  EXPECT_EQ(Time("2min").time_ns, 120'000 * kMs);
  EXPECT_EQ(Time("mark:a#b").name, "a#b");
  EXPECT_EQ(Time("mark:a#b").which, 0U);
}

TEST(RecordingTimeTest, RefusesWhatIsNoMoment) {
  for (const char* const text : {"", "soon", "-1s", "1e30", "nan", "mark:", "1 s", "peak"}) {
    const Expected<RecordingTime> time = ParseRecordingTime("--from", text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().exit_code, ExitCode::kUsage);
    EXPECT_THAT(time.error().message, HasSubstr("no moment of a recording; write a time"));
  }
}

TEST(LifetimesTest, ClassesAreInOrderAndClose) {
  for (std::uint64_t ns = 0; ns < 1'000'000; ns = ns < 100 ? ns + 1 : ns + ns / 9) {
    const LifetimeClass it = LifetimeClassOf(ns);
    EXPECT_LE(ShortestOf(it), ns);
    EXPECT_GT(ShortestOf(it + 1), ns);
    EXPECT_LE(ShortestOf(it + 1) - ShortestOf(it), std::max<std::uint64_t>(1, ns / 4));
  }
  EXPECT_EQ(MedianOf({}), 0U);
}

}  // namespace
}  // namespace leakgate
