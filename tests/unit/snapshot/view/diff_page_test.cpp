// The page of the difference between two snapshots. Their modules are nowhere, so frames are named
// by their places in them.
#include "runner/snapshot/view/diff_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "runner/snapshot/view/stack_lookup.h"
#include "tests/support/html_page.h"
#include "tests/unit/snapshot/file/sample_snapshot.h"

namespace leakgate {
namespace {

using nlohmann::json;
using sample::Facts;
using sample::Written;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct DiffedBlock {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t pc;
};

SnapshotFacts At(std::uint64_t taken_ns, int pid = 4242) {
  SnapshotFacts facts = Facts();
  facts.taken_ns = taken_ns;
  facts.taken_unix_ns = taken_ns;
  facts.pid = pid;
  facts.not_recorded = {};
  return facts;
}

// Each block has a stack of its own frame below main's. `shift` moves the module, as another
// process has it elsewhere.
std::string Of(const SnapshotFacts& facts, const std::vector<DiffedBlock>& blocks,
               const std::string& build_id = "ab", std::uint64_t shift = 0) {
  return Written(facts, {.agent_state = AgentState::kTracing}, [&](SnapshotWriter& writer) {
    writer.Add(SnapshotModule{
        .id = 1, .module = {shift, shift + 0x9000, shift, "/src/build/net_test", build_id}});
    writer.Add(SnapshotWindow{.id = 1});
    const std::uint32_t main = writer.Add(SnapshotNode{shift + 0x101, 0, 1});
    for (const DiffedBlock& it : blocks) {
      const std::uint32_t stack = writer.Add(SnapshotNode{shift + it.pc, main, 1});
      writer.Add(LiveBlock{it.address, it.bytes, AllocationKind::kNew, false, 0, stack, 1, 0});
    }
  });
}

class DiffPageTest : public testing::Test {
 protected:
  std::string PageOf(const std::string& first, const std::string& second,
                     const PageLimits& limits = {}, const std::vector<std::string>& filters = {}) {
    DiffPage page(limits);
    const Expected<SnapshotDiff> diff = DiffSnapshots(
        directory_.Write("first", first), directory_.Write("second", second), {.filters = filters},
        [&](const SnapshotDiff& it, const ChangedStacks& stacks) { page.Take(it, stacks); });
    EXPECT_TRUE(diff) << diff.error().message;
    std::ostringstream out;
    page.Write(*diff, FilterText({.filters = filters}), out, {});
    return out.str();
  }
  json Page(const std::string& first, const std::string& second, const PageLimits& limits = {}) {
    return test::ReportInPage(PageOf(first, second, limits));
  }

  test::TemporaryDirectory directory_;
};

std::string NameOfSite(const json& page, const json& row) {
  return page["strings"][row[0].get<std::size_t>()];
}

TEST_F(DiffPageTest, TellsWhatGrewAndWhatShrank) {
  const json page = Page(Of(At(1'000'000'000), {{32, 10, 0x11}, {64, 50, 0x21}, {96, 7, 0x31}}),
                         Of(At(3'000'000'000), {{32, 10, 0x11}, {128, 100, 0x41}, {160, 7, 0x31}}));
  const json& difference = page["difference"];
  EXPECT_EQ(difference["same_process"], true);
  EXPECT_EQ(difference["seconds_between"], 2.0);
  EXPECT_EQ(difference["compared"], "one process, 2.00 s apart: blocks are compared one by one");
  EXPECT_EQ(difference["total"], json({67, 3, 117, 3, 107, 2, 57, 2}));
  EXPECT_EQ(page["sites"]["count"], 3);
  const json& sites = page["sites"]["rows"];
  ASSERT_THAT(sites, SizeIs(3));
  EXPECT_EQ(NameOfSite(page, sites[0]), "net_test+0x40");
  EXPECT_EQ(NameOfSite(page, sites[1]), "net_test+0x20");
  EXPECT_EQ(NameOfSite(page, sites[2]), "net_test+0x30");  // replaced by as much
  EXPECT_THAT(sites[2], SizeIs(3 + 8));
}

TEST_F(DiffPageTest, HasTheStacksThatChangedAndNoOthers) {
  const json page = Page(Of(At(1), {{32, 10, 0x11}, {64, 50, 0x21}}),
                         Of(At(2), {{32, 10, 0x11}, {128, 100, 0x41}}));
  const json& changes = page["changes"];
  EXPECT_EQ(changes["stacks"], 2);
  ASSERT_THAT(changes["rows"], SizeIs(2));
  EXPECT_EQ(changes["rows"][0], json({2, 1, 0, 1, 0, 0, 100, 1, 100, 1, 0, 0}));
  EXPECT_EQ(changes["rows"][1], json({3, 1, 0, 2, 50, 1, 0, 0, 0, 0, 50, 1}));
}

// The same stack has other addresses in another process.
TEST_F(DiffPageTest, PutsTheSameStackOfTwoProcessesTogether) {
  const json page = Page(Of(At(1), {{32, 10, 0x11}, {64, 5, 0x21}}),
                         Of(At(2, 7), {{640, 30, 0x11}, {960, 5, 0x21}}, "ab", 0x70000));
  EXPECT_EQ(page["difference"]["same_process"], false);
  ASSERT_THAT(page["changes"]["rows"], SizeIs(1));
  EXPECT_EQ(page["changes"]["rows"][0], json({2, 1, 0, 1, 10, 1, 30, 1, 0, 0, 0, 0}));
}

TEST_F(DiffPageTest, TellsStacksOfTwoBuildsApartByFunctionAlone) {
  const json page = Page(Of(At(1), {{32, 10, 0x11}}, "ab"), Of(At(2, 7), {{32, 30, 0x21}}, "cd"));
  ASSERT_THAT(page["changes"]["rows"], SizeIs(1));
  EXPECT_EQ(page["changes"]["rows"][0][4], 10);
  EXPECT_EQ(page["changes"]["rows"][0][6], 30);
}

TEST_F(DiffPageTest, TellsWhichOfTwoProcessesWasLater) {
  const json page = Page(Of(At(5'000'000'000), {}), Of(At(2'000'000'000, 7), {}));
  EXPECT_EQ(page["difference"]["seconds_between"], -3.0);
}

// What grew does not push out what shrank.
TEST_F(DiffPageTest, KeepsWithinItsLimitsAndCountsWhatItLeavesOut) {
  std::vector<DiffedBlock> before;
  std::vector<DiffedBlock> after;
  for (std::uint64_t i = 1; i <= 6; ++i) {
    after.push_back({32 * i, 100 * i, 0x11 + 16 * i});
    before.push_back({3200 + 32 * i, i, 0x211 + 16 * i});
  }
  const json page = Page(Of(At(1), before), Of(At(2), after), {.stacks = 3, .sites = 4});
  EXPECT_EQ(page["sites"]["count"], 12);
  ASSERT_THAT(page["sites"]["rows"], SizeIs(4));
  EXPECT_EQ(page["sites"]["rows"][0][5], 600);  // live after
  EXPECT_EQ(page["sites"]["rows"][2][3], 6);    // live before
  EXPECT_EQ(page["changes"]["stacks"], 12);
  EXPECT_THAT(page["changes"]["rows"], SizeIs(3));
  EXPECT_EQ(page["changes"]["left_out"],
            json({9, 1 + 2 + 3 + 4 + 5 + 6, 6, 100 + 200 + 300, 3, 100 + 200 + 300, 3, 21, 6}));
}

TEST_F(DiffPageTest, HasWhatWasMapped) {
  const auto with = [](std::uint64_t taken_ns, std::uint64_t pages) {
    return Written(At(taken_ns), {.agent_state = AgentState::kTracing},
                   [&](SnapshotWriter& writer) {
                     const std::uint32_t grow = writer.Add(SnapshotNode{0x1100, 0, 0});
                     writer.Add(SnapshotMapping{.address = 0x7000'0000'0000,
                                                .bytes = 4096 * pages,
                                                .protection = 3,
                                                .stack = grow,
                                                .mapped_ns = 1});
                   });
  };
  const json page = Page(with(1, 1), with(2, 3));
  EXPECT_EQ(page["difference"]["mapped"], json({4096, 1, 3 * 4096, 1, 2 * 4096, 0, 0, 0}));
  ASSERT_THAT(page["mapped_sites"]["rows"], SizeIs(1));
  EXPECT_EQ(page["mapped_sites"]["rows"][0][11], 1);  // the node of its stack
}

TEST_F(DiffPageTest, IsAPageWhereNothingHasChanged) {
  const json page = Page(Of(At(1), {{32, 10, 0x11}}), Of(At(2), {{32, 10, 0x11}}));
  EXPECT_THAT(page["changes"]["rows"], IsEmpty());
  EXPECT_THAT(page["sites"]["rows"], IsEmpty());
  EXPECT_EQ(page["difference"]["total"], json({10, 1, 10, 1, 0, 0, 0, 0}));
}

TEST_F(DiffPageTest, SaysWhatIsMissingAndWhyThereAreNoSymbols) {
  SnapshotFacts facts = At(1);
  facts.not_recorded = {"something"};
  const json page = Page(Of(facts, {}), Of(At(2), {{32, 10, 0x11}}));
  EXPECT_THAT(page["difference"]["missing"], ElementsAre(HasSubstr("first: something")));
  EXPECT_THAT(page["difference"]["problems"],
              ElementsAre(HasSubstr("/src/build/net_test: it is not here")));
}

TEST_F(DiffPageTest, CannotBeEndedEarlyByAName) {
  const std::string name = "</script><!--<script>alert(1)</script>";
  SnapshotFacts facts = At(1);
  facts.image = facts.host = facts.occasion = name;
  facts.command_line = facts.not_recorded = {name};
  const std::string html = PageOf(Of(facts, {{32, 1, 0x11}}, "</script>"),
                                  Of(facts, {{64, 1, 0x11}}, "</script>"), {}, {name, "*"});
  const std::string begin = R"(<script type="application/json" id="report">)";
  const std::size_t from = html.find(begin) + begin.size();
  EXPECT_EQ(html.substr(html.find('<', from), 10), "</script>\n");
  EXPECT_EQ(test::ReportInPage(html)["difference"]["from"]["image"], name);
}

}  // namespace
}  // namespace leakgate
