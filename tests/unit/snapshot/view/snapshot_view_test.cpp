// Snapshots of known content in groups, as a tree, and beside each other. Their modules
// are nowhere, so frames are shown by their places in them.
#include "runner/snapshot/view/snapshot_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/snapshot/view/show_snapshot.h"
#include "runner/snapshot/view/snapshot_diff.h"
#include "runner/snapshot/view/snapshot_groups.h"
#include "tests/unit/snapshot/file/sample_snapshot.h"

namespace leakgate {
namespace {

using sample::Facts;
using sample::SmallSnapshot;
using sample::Written;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;

using Row = std::pair<std::string, std::int64_t>;

class SnapshotViewTest : public testing::Test {
 protected:
  std::unique_ptr<SnapshotView> View(const std::string& bytes, SnapshotQuery query = {}) {
    auto view = std::make_unique<SnapshotView>(std::move(query), Symbolizer(nullptr, {}));
    const Expected<void> read = view->Read(directory_.Write("a.snapshot", bytes));
    EXPECT_TRUE(read) << read.error().message;
    return view;
  }
  static std::vector<Row> Rows(SnapshotView& view, GroupBy by) {
    std::vector<Row> rows;
    for (const SnapshotGroup& group : GroupsOf(view, by)) {
      rows.emplace_back(group.name, group.sums.bytes);
    }
    return rows;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(SnapshotViewTest, GroupsBlocksByAllThatIsKnownOfThem) {
  const auto view = View(SmallSnapshot());
  EXPECT_THAT(Rows(*view, GroupBy::kSite),
              ElementsAre(Row("net_test+0xffe", 4096), Row("net_test+0x7f", 56)));
  EXPECT_THAT(Rows(*view, GroupBy::kStack), SizeIs(2));
  EXPECT_THAT(Rows(*view, GroupBy::kModule), ElementsAre(Row("/src/build/net_test", 4152)));
  EXPECT_THAT(Rows(*view, GroupBy::kThread), ElementsAre(Row("thread 4243 (worker)", 4096),
                                                         Row("the main thread (net_test)", 56)));
  EXPECT_THAT(Rows(*view, GroupBy::kWindow),
              ElementsAre(Row("the program", 4096), Row("HttpTest.KeepAlive", 56)));
  EXPECT_THAT(Rows(*view, GroupBy::kKind),
              ElementsAre(Row("malloc", 4096), Row("new", 56), Row("new[]", 0)));
  EXPECT_THAT(
      Rows(*view, GroupBy::kSize),
      ElementsAre(Row("2049 B to 4096 B", 4096), Row("33 B to 64 B", 56), Row("0 to 1 B", 0)));
}

// Blocks without a stack, and frees: of a session that takes stacks of frees only.
std::string WithoutStacks() {
  SnapshotFacts facts = Facts();
  facts.stack_events = kStacksOfFree;
  return Written(facts, {}, [](SnapshotWriter& writer) {
    constexpr auto kNotTaken = static_cast<std::uint32_t>(UnwindEnd::kNotTaken);
    writer.Add(
        SnapshotModule{.id = 1, .module = {0x1000, 0x2000, 0x1000, "/src/build/net_test", "ab12"}});
    const std::uint32_t main = writer.Add(SnapshotNode{0x1100, 0, 1});
    const std::uint32_t drop = writer.Add(SnapshotNode{0x1080, main, 1});
    const std::uint32_t clear = writer.Add(SnapshotNode{0x1fff, main, 1});
    writer.Add(LiveBlock{0x5555'0000'1040, 56, AllocationKind::kNew, false, 0, kNotTaken, 0, 0});
    writer.Add(LiveBlock{0x5555'0000'1080, 8, AllocationKind::kMalloc, false, 0, 0, 0, 0});
    writer.Add(SnapshotFrees{drop, 300, 3});
    writer.Add(SnapshotFrees{clear, 100, 50});
  });
}

TEST_F(SnapshotViewTest, TellsAStackThatWasNotTakenFromOneThatIsEmpty) {
  const auto view = View(WithoutStacks());
  EXPECT_THAT(Rows(*view, GroupBy::kSite), ElementsAre(Row("stack not taken (--stacks)", 56),
                                                       Row("no call stack was recorded", 8)));
}

TEST_F(SnapshotViewTest, GroupsFreesByWhoFrees) {
  const auto view = View(WithoutStacks());
  EXPECT_THAT(Rows(*view, GroupBy::kFreedBy),
              ElementsAre(Row("net_test+0x7f", 300), Row("net_test+0xffe", 100)));
  const std::string text = ShowText(*view, {}, {});
  EXPECT_THAT(text, HasSubstr("stacks     taken of free; not of alloc, realloc\n"));
  // Shares are of what has been freed.
  EXPECT_THAT(text, HasSubstr("       300 B            300   75.0          3  net_test+0x7f"));
}

TEST_F(SnapshotViewTest, SaysThatWhoFreesWasNotRecorded) {
  const auto view = View(SmallSnapshot());
  EXPECT_THAT(ShowText(*view, {.group_by = GroupBy::kFreedBy}, {}),
              HasSubstr("Who frees was not recorded"));
  EXPECT_THAT(ShowText(*view, {}, {}), Not(HasSubstr("Freed by")));
}

// The program has been open for 4 s; the test ended 2 s before.
TEST_F(SnapshotViewTest, BoundsTheAgeByTheWindow) {
  const auto view = View(SmallSnapshot());
  EXPECT_THAT(Rows(*view, GroupBy::kAge),
              ElementsAre(Row("at most 4.00 s: in the program, still open", 4096),
                          Row("at least 1 s", 56)));
}

TEST_F(SnapshotViewTest, TellsTheWindowsOfASite) {
  const auto view = View(SmallSnapshot());
  const std::vector<SnapshotGroup> sites = GroupsOf(*view, GroupBy::kSite);
  EXPECT_EQ(sites[1].sums, (Amount{56, 2}));
  EXPECT_EQ(sites[1].windows.first, 2U);
  EXPECT_EQ(sites[1].windows.last, 2U);
}

TEST_F(SnapshotViewTest, ShowsOnlyWhatEachFilterMatches) {
  EXPECT_EQ(View(SmallSnapshot(), {.stacks = {.filters = {"module:net_*"}}})->tally().total(),
            (Amount{4152, 3}));
  const auto nothing =
      View(SmallSnapshot(), {.stacks = {.filters = {"module:net_*", "module:other"}}});
  EXPECT_EQ(nothing->tally().total(), Amount{});
  EXPECT_THAT(ShowText(*nothing, {}, {}), HasSubstr("Nothing matches."));
}

TEST_F(SnapshotViewTest, SaysWhyAModuleHasNoSymbols) {
  const auto view = View(SmallSnapshot());
  EXPECT_THAT(ShowText(*view, {}, {}),
              HasSubstr("no symbols /src/build/net_test: it is not here; name a directory that has "
                        "it with --symbols DIR"));
}

TEST_F(SnapshotViewTest, SaysWhatIsMissing) {
  EXPECT_THAT(MissingFrom(View(SmallSnapshot())->contents()),
              ElementsAre("something", "the agent did not trace the process"));
  SnapshotClosing closing{.agent_state = AgentState::kTracing};
  closing.drops[1] = 7;
  const auto view = View(Written({}, closing, [](SnapshotWriter&) {}));
  EXPECT_THAT(MissingFrom(view->contents()),
              ElementsAre("7 events could not be recorded (address_range)"));
  EXPECT_THAT(ShowText(*view, {}, {}), HasSubstr("Nothing is live."));
}

TEST_F(SnapshotViewTest, TellsWhatIsMappedApart) {
  const auto view = View(SmallSnapshot());
  EXPECT_THAT(ShowText(*view, {}, {}),
              HasSubstr("  mapped     64.0 KiB in 1 mapping: by the program"));
  EXPECT_EQ(view->tally().total().bytes, 4152);
}

TEST_F(SnapshotViewTest, MakesHostileNamesPrintable) {
  SnapshotFacts facts = Facts();
  facts.image = "/a\x1b[31m";
  facts.name = "/b\x1b[31m";
  facts.command_line = {"x\ny"};
  const auto view = View(Written(facts, {}, [](SnapshotWriter& writer) {
    writer.Add(SnapshotModule{.id = 1, .module = {0, 9, 0, "/b\x1b", "ab"}});
    writer.Add(SnapshotWindow{.id = 1, .kind = WindowKind::kTest, .name = "A.\x1b"});
    writer.Add(SnapshotThread{.id = 1, .tid = 1, .name = "\x1b"});
    writer.Add(
        LiveBlock{32, 1, AllocationKind::kNew, false, 0, writer.Add(SnapshotNode{5, 0, 1}), 1, 1});
    writer.Add(LiveBlock{64, 1, AllocationKind::kNew, false, 0, 0, 0, 0});
  }));
  EXPECT_THAT(ShowText(*view, {}, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ShowText(*view, {.layout = SnapshotLayout::kTree}, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ShowText(*view, {.group_by = GroupBy::kStack}, {}), Not(HasSubstr("\x1b")));
}

// main calls two others, one of which calls back: what it allocates counts for both.
TEST_F(SnapshotViewTest, AddsUpWhatAFrameCalls) {
  const auto view = View(Written(Facts(), {}, [](SnapshotWriter& writer) {
    writer.Add(SnapshotModule{.id = 1, .module = {0, 0x9000, 0, "/src/app", "ab"}});
    const std::uint32_t outer = writer.Add(SnapshotNode{0x101, 0, 1});
    const std::uint32_t left = writer.Add(SnapshotNode{0x201, outer, 1});
    const std::uint32_t right = writer.Add(SnapshotNode{0x301, outer, 1});
    writer.Add(LiveBlock{32, 10, AllocationKind::kNew, false, 0, left, 0, 0});
    writer.Add(LiveBlock{64, 20, AllocationKind::kNew, false, 0, right, 0, 0});
    writer.Add(LiveBlock{96, 30, AllocationKind::kNew, false, 0, right, 0, 0});
  }));
  const CallTree tree(view->frames(), AmountsByStack(view->tally()));
  const CallTree::Node& root = tree.Get(CallTree::kRoot);
  ASSERT_THAT(root.children, SizeIs(1));
  const CallTree::Node& outer = tree.Get(root.children[0]);
  EXPECT_EQ(outer.amount, (Amount{60, 3}));
  ASSERT_THAT(outer.children, SizeIs(2));
  EXPECT_EQ(tree.Get(outer.children[0]).amount, (Amount{50, 2}));
  EXPECT_EQ(tree.Get(outer.children[1]).amount, (Amount{10, 1}));
}

class SnapshotDiffTest : public testing::Test {
 protected:
  struct Block {
    std::uint64_t address;
    std::uint64_t bytes;
    std::uint64_t pc;
    std::uint32_t window = 1;
  };

  // `first_pc`: a stack that is written before all others, so that ids differ.
  static std::string Of(const SnapshotFacts& facts, const std::vector<Block>& blocks,
                        std::uint64_t first_pc, const std::string& build_id = "ab") {
    return Written(facts, {.agent_state = AgentState::kTracing}, [&](SnapshotWriter& writer) {
      writer.Add(
          SnapshotModule{.id = 1, .module = {0, 0x9000, 0, "/src/build/net_test", build_id}});
      writer.Add(SnapshotWindow{.id = 1});
      writer.Add(SnapshotWindow{.id = 2});
      (void)writer.Add(SnapshotNode{first_pc, 0, 1});
      for (const Block& it : blocks) {
        const std::uint32_t stack = writer.Add(SnapshotNode{it.pc, 0, 1});
        writer.Add(
            LiveBlock{it.address, it.bytes, AllocationKind::kNew, false, 0, stack, it.window, 0});
      }
    });
  }
  static SnapshotFacts At(std::uint64_t taken_ns, int pid = 4242) {
    SnapshotFacts facts = Facts();
    facts.taken_ns = taken_ns;
    facts.pid = pid;
    facts.not_recorded = {};
    return facts;
  }

  Expected<SnapshotDiff> Diff(const std::string& first, const std::string& second,
                              const DiffQuery& query = {}) {
    return DiffSnapshots(directory_.Write("first", first), directory_.Write("second", second),
                         query);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(SnapshotDiffTest, TellsKeptGoneAndAppearedBlocksApart) {
  const Expected<SnapshotDiff> diff =
      Diff(Of(At(1), {{32, 1, 0x11}, {64, 2, 0x21}, {96, 4, 0x31}, {128, 8, 0x41}}, 0x51),
           Of(At(2),
              {{16, 100, 0x61},     // appeared
               {32, 1, 0x11},       // kept
               {64, 2, 0x22},       // freed, and allocated again by another stack
               {96, 5, 0x31},       // likewise, of another size
               {128, 8, 0x41, 2}},  // likewise, in another test
              0x11));
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_TRUE(diff->is_same_process);
  EXPECT_EQ(diff->total.before, (Amount{15, 4}));
  EXPECT_EQ(diff->total.after, (Amount{116, 5}));
  EXPECT_EQ(diff->total.gone, (Amount{14, 3}));
  EXPECT_EQ(diff->total.appeared, (Amount{115, 4}));
  std::vector<std::pair<std::string, std::int64_t>> growth;
  for (const SiteChange& site : diff->sites) {
    growth.emplace_back(site.name, site.sums.Growth().bytes);
  }
  EXPECT_THAT(growth, ElementsAre(Pair("net_test+0x60", 100), Pair("net_test+0x21", 2),
                                  Pair("net_test+0x30", 1), Pair("net_test+0x40", 0),
                                  Pair("net_test+0x20", -2)));
  const std::string text = DiffText(*diff, std::nullopt, {});
  EXPECT_THAT(text, HasSubstr("one process, 0.0 ms apart: blocks are compared one by one"));
  EXPECT_THAT(text, HasSubstr("1 call site replaced what they had by as much"));
}

TEST_F(SnapshotDiffTest, FindsNothingBetweenEqualOnes) {
  const std::vector<Block> blocks = {{32, 1, 0x11}, {64, 2, 0x21}};
  const Expected<SnapshotDiff> diff = Diff(Of(At(1), blocks, 0x51), Of(At(2), blocks, 0x61));
  EXPECT_THAT(diff->sites, IsEmpty());
  EXPECT_THAT(DiffText(*diff, std::nullopt, {}), HasSubstr("Nothing has changed."));
}

TEST_F(SnapshotDiffTest, ComparesMoreBlocksThanAPartHolds) {
  std::vector<Block> before;
  std::vector<Block> after;
  for (std::uint64_t i = 1; i <= 50'000; ++i) {
    before.push_back({i * 32, 1, 0x11});
    if (i % 2 == 0) after.push_back({i * 32, 1, 0x11});
  }
  const Expected<SnapshotDiff> diff = Diff(Of(At(1), before, 0x51), Of(At(2), after, 0x51));
  EXPECT_EQ(diff->total.gone, (Amount{25'000, 25'000}));
  EXPECT_EQ(diff->total.appeared, Amount{});
}

TEST_F(SnapshotDiffTest, WantsTheEarlierOneFirst) {
  const Expected<SnapshotDiff> diff = Diff(Of(At(2), {}, 0x51), Of(At(1), {}, 0x51));
  ASSERT_FALSE(diff);
  EXPECT_THAT(diff.error().message, HasSubstr("first was taken after "));
  EXPECT_THAT(diff.error().message, HasSubstr("; name the earlier one first"));
  EXPECT_EQ(diff.error().exit_code, ExitCode::kUsage);
}

// Of two processes addresses say nothing.
TEST_F(SnapshotDiffTest, ComparesCallSitesOfTwoProcesses) {
  const Expected<SnapshotDiff> diff = Diff(Of(At(1), {{32, 1, 0x11}, {64, 2, 0x21}}, 0x51),
                                           Of(At(2, 7), {{32, 9, 0x21}, {64, 1, 0x11}}, 0x51));
  EXPECT_FALSE(diff->is_same_process);
  EXPECT_TRUE(diff->has_lines);
  ASSERT_THAT(diff->sites, SizeIs(1));
  EXPECT_EQ(diff->sites[0].name, "net_test+0x20");
  EXPECT_EQ(diff->sites[0].sums.Growth(), (Amount{7, 0}));
}

// An offset means nothing in another build: the module is all that is left.
TEST_F(SnapshotDiffTest, ComparesNoOffsetsOfTwoBuilds) {
  const Expected<SnapshotDiff> diff =
      Diff(Of(At(1), {{32, 1, 0x11}}, 0x51, "ab"), Of(At(2, 7), {{32, 9, 0x21}}, 0x51, "cd"));
  EXPECT_FALSE(diff->has_lines);
  ASSERT_THAT(diff->sites, SizeIs(1));
  EXPECT_EQ(diff->sites[0].name, "net_test");
  EXPECT_EQ(diff->sites[0].sums.Growth(), (Amount{8, 0}));
}

TEST_F(SnapshotDiffTest, SaysWhatEitherHasNotRecorded) {
  SnapshotFacts facts = At(1);
  facts.not_recorded = {"something"};
  const Expected<SnapshotDiff> diff = Diff(Of(facts, {}, 0x51), Of(At(2), {}, 0x51));
  EXPECT_THAT(diff->missing, ElementsAre(HasSubstr("first: something")));
}

TEST_F(SnapshotDiffTest, TellsWhichFileIsBroken) {
  const std::string whole = Of(At(1), {{32, 1, 0x11}}, 0x51);
  const Expected<SnapshotDiff> diff = Diff(whole, whole.substr(0, whole.size() - 1));
  ASSERT_FALSE(diff);
  EXPECT_THAT(diff.error().message, HasSubstr("second: the snapshot was cut off"));
}

}  // namespace
}  // namespace leakgate
