// The page of a snapshot: what is in it, and that it stays within bounds.
#include "runner/snapshot/view/snapshot_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "runner/snapshot/view/export_snapshot.h"
#include "tests/support/html_page.h"
#include "tests/unit/snapshot/file/sample_snapshot.h"

namespace leakgate {
namespace {

using nlohmann::json;
using sample::Facts;
using sample::SmallSnapshot;
using sample::Written;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SnapshotPageTest : public testing::Test {
 protected:
  std::string PageOf(const std::string& bytes, const PageLimits& limits = {},
                     SnapshotQuery query = {}) {
    SnapshotView view(std::move(query), Symbolizer(nullptr, {}));
    const Expected<void> read = view.Read(directory_.Write("a.snapshot", bytes));
    EXPECT_TRUE(read) << read.error().message;
    std::ostringstream out;
    WriteSnapshotPage(view, out, {}, limits);
    return out.str();
  }

  test::TemporaryDirectory directory_;
};

std::string StringAt(const json& page, const json& index) {
  return page["strings"][index.get<std::size_t>()];
}

TEST_F(SnapshotPageTest, TellsWhatTheSnapshotIs) {
  const json page = test::ReportInPage(PageOf(SmallSnapshot()));
  const json& snapshot = page["snapshot"];
  EXPECT_EQ(snapshot["image"], "/src/build/net_test");
  EXPECT_EQ(snapshot["pid"], 4242);
  EXPECT_THAT(snapshot["missing"], ElementsAre("something", "the agent did not trace the process"));
  EXPECT_EQ(snapshot["shown"], json({4152, 3}));
  std::map<std::string, std::string> lines;
  for (const json& line : snapshot["lines"]) lines[line[0]] = line[1];
  EXPECT_THAT(lines["taken"], HasSubstr("4.00 s after tracing began: end of HttpTest.KeepAlive"));
  EXPECT_EQ(lines["command"], "./net_test --gtest_filter=*");
  EXPECT_EQ(lines["state"], "all blocks are of one moment");
}

TEST_F(SnapshotPageTest, LeadsFromCallSitesToTheirStacks) {
  const json page = test::ReportInPage(PageOf(SmallSnapshot()));
  EXPECT_EQ(page["sites"]["count"], 2);
  const json& sites = page["sites"]["rows"];
  ASSERT_THAT(sites, SizeIs(2));
  EXPECT_EQ(StringAt(page, sites[0][0]), "net_test+0xffe");
  EXPECT_EQ(sites[0][2], 4096);
  EXPECT_EQ(StringAt(page, sites[1][0]), "net_test+0x7f");
  EXPECT_EQ(StringAt(page, sites[1][4]), "HttpTest.KeepAlive");
  const json& live = page["live"];
  EXPECT_EQ(live["stacks"], 2);
  EXPECT_EQ(live["left_out"], json({0, 0, 0}));
  ASSERT_THAT(live["rows"], SizeIs(2));
  EXPECT_EQ(live["rows"][0][3], 1);  // of the first site
  EXPECT_EQ(live["rows"][0][4], 4096);
  EXPECT_EQ(live["rows"][1][3], 2);
  EXPECT_EQ(live["rows"][1][5], 2);  // blocks
  // Both stacks are below main's frame.
  EXPECT_THAT(page["stacks"], SizeIs(2 * (1 + 3)));
}

TEST_F(SnapshotPageTest, HasTheSizesAndTheTables) {
  const json page = test::ReportInPage(PageOf(SmallSnapshot()));
  EXPECT_EQ(page["sizes"], json({{0, 1, 0, 1}, {33, 64, 56, 1}, {2049, 4096, 4096, 1}}));
  std::map<std::string, json> tables;
  for (const json& table : page["tables"]) tables[table["by"]] = table;
  EXPECT_THAT(tables, SizeIs(5));
  EXPECT_EQ(StringAt(page, tables["thread"]["rows"][0][0]), "thread 4243 (worker)");
  EXPECT_EQ(tables["thread"]["rows"][0][2], 4096);
  EXPECT_EQ(tables["kind"]["groups"], 3);
}

TEST_F(SnapshotPageTest, HasWhatTheProgramMappedAndWhatWasFreed) {
  const json mapped = test::ReportInPage(PageOf(SmallSnapshot()));
  ASSERT_THAT(mapped["mapped"]["rows"], SizeIs(1));
  EXPECT_EQ(StringAt(mapped, mapped["mapped"]["rows"][0][0]), "net_test+0x7f");
  EXPECT_EQ(mapped["mapped"]["rows"][0][2], 65536);
  EXPECT_TRUE(mapped["freed"].is_null());

  SnapshotFacts facts = Facts();
  facts.stack_events = kStacksOfFree;
  const json freed = test::ReportInPage(PageOf(Written(facts, {}, [](SnapshotWriter& writer) {
    const std::uint32_t drop = writer.Add(SnapshotNode{0x1080, 0, 0});
    writer.Add(LiveBlock{0x5555'0000'1040, 56, AllocationKind::kNew, false, 0,
                         static_cast<std::uint32_t>(UnwindEnd::kNotTaken), 0, 0});
    writer.Add(SnapshotFrees{drop, 300, 3});
  })));
  ASSERT_THAT(freed["freed"]["rows"], SizeIs(1));
  EXPECT_EQ(freed["freed"]["rows"][0][2], 300);
  EXPECT_EQ(freed["freed"]["rows"][0][3], 3);
  EXPECT_EQ(StringAt(freed, freed["live"]["rows"][0][2]), "not_taken");
  EXPECT_EQ(StringAt(freed, freed["sites"]["rows"][0][0]), "stack not taken (--stacks)");
}

TEST_F(SnapshotPageTest, SaysWhyAModuleHasNoSymbols) {
  const json page = test::ReportInPage(PageOf(SmallSnapshot()));
  ASSERT_THAT(page["problems"], SizeIs(1));
  EXPECT_EQ(page["problems"][0][0], "/src/build/net_test");
  EXPECT_THAT(page["problems"][0][1].get<std::string>(), HasSubstr("--symbols DIR"));
}

// Names of a file that somebody else wrote cannot end the element that they are in.
TEST_F(SnapshotPageTest, CannotBeEndedEarlyByAName) {
  const std::string name =
      "</script><!--<script>alert(1)</script>\xE2\x80\xA8@LEAKGATE_REPORT@\xFF";
  SnapshotFacts facts = Facts();
  facts.image = facts.host = facts.kernel = facts.occasion = name;
  facts.command_line = facts.not_recorded = {name};
  const std::string html =
      PageOf(Written(facts, {.current_window = 1}, [&](SnapshotWriter& writer) {
        writer.Add(SnapshotModule{.id = 1, .module = {0x1000, 0x2000, 0x1000, name, ""}});
        writer.Add(SnapshotWindow{.id = 1, .kind = WindowKind::kTest, .name = name, .file = name});
        writer.Add(SnapshotThread{.id = 1, .tid = 1, .name = name});
        const std::uint32_t frame = writer.Add(SnapshotNode{0x1100, 0, 1});
        writer.Add(LiveBlock{0x5555'0000'1040, 56, AllocationKind::kNew, false, 0, frame, 1, 1});
        writer.Add(SnapshotMapping{.address = 0x7000'0000'0000,
                                   .bytes = 4096,
                                   .protection = 1,
                                   .stack = frame,
                                   .window = 1,
                                   .thread = 1});
      }));
  const std::string begin = R"(<script type="application/json" id="report">)";
  const std::size_t from = html.find(begin) + begin.size();
  const std::size_t end = html.find('<', from);
  EXPECT_EQ(html.substr(end, 10), "</script>\n");
  EXPECT_THAT(html.substr(from, end - from), Not(HasSubstr("\xE2\x80\xA8")));
  const json page = test::ReportInPage(html);
  EXPECT_THAT(page["snapshot"]["image"].get<std::string>(), HasSubstr("</script><!--<script>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
}

// A process may have any number of stacks: the largest are in the page, and the others counted.
TEST_F(SnapshotPageTest, KeepsWithinItsLimitsAndCountsWhatItLeavesOut) {
  const std::string many = Written(Facts(), {}, [](SnapshotWriter& writer) {
    writer.Add(
        SnapshotModule{.id = 1, .module = {0x1000, 0x9000, 0x1000, "/src/build/net_test", "ab12"}});
    for (std::uint64_t i = 1; i <= 9; ++i) {
      const auto id = static_cast<std::uint32_t>(i);
      writer.Add(SnapshotWindow{.id = id});
      writer.Add(SnapshotThread{.id = id, .tid = static_cast<int>(id)});
      const std::uint32_t frame = writer.Add(SnapshotNode{0x1000 + 16 * i, 0, 1});
      writer.Add(
          LiveBlock{0x5555'0000'1000 + 32 * i, i, AllocationKind::kNew, false, 0, frame, id, id});
    }
  });
  const json page = test::ReportInPage(PageOf(many, {.stacks = 4, .sites = 3, .rows = 2}));
  EXPECT_EQ(page["live"]["stacks"], 9);
  EXPECT_EQ(page["live"]["left_out"], json({5, 1 + 2 + 3 + 4 + 5, 5}));
  ASSERT_THAT(page["live"]["rows"], SizeIs(4));
  EXPECT_EQ(page["live"]["rows"][0][4], 9);
  EXPECT_EQ(page["live"]["rows"][3][3], 0);  // its site is not among the three
  EXPECT_EQ(page["sites"]["count"], 9);
  EXPECT_THAT(page["sites"]["rows"], SizeIs(3));
  const json& threads = page["tables"][1];
  EXPECT_EQ(threads["by"], "thread");
  EXPECT_THAT(threads["rows"], SizeIs(2));

  for (const PageLimits& limits : {PageLimits{.nodes = 4}, PageLimits{.table_bytes = 200}}) {
    const json small = test::ReportInPage(PageOf(many, limits));
    EXPECT_LT(small["live"]["rows"].size(), 9U);
    EXPECT_EQ(small["live"]["rows"].size() + small["live"]["left_out"][0].get<std::size_t>(), 9U);
  }
}

TEST_F(SnapshotPageTest, ShowsWhatMatchesAndTellsOfAllElse) {
  const json page =
      test::ReportInPage(PageOf(SmallSnapshot(), {}, {.stacks = {.filters = {"no::such*"}}}));
  EXPECT_EQ(page["snapshot"]["filter"], "that match no::such*");
  EXPECT_EQ(page["snapshot"]["shown"], json({0, 0}));
  EXPECT_THAT(page["live"]["rows"], IsEmpty());
  EXPECT_THAT(page["mapped"]["rows"], IsEmpty());
}

TEST_F(SnapshotPageTest, IsTheExportInTheFormatHtml) {
  SnapshotView view({}, Symbolizer(nullptr, {}));
  ASSERT_TRUE(view.Read(directory_.Write("a.snapshot", SmallSnapshot())));
  std::ostringstream out;
  ASSERT_TRUE(ExportSnapshot(view, SnapshotFormat::kHtml, out, {}));
  EXPECT_EQ(out.str(), PageOf(SmallSnapshot()));
}

}  // namespace
}  // namespace leakgate
