// The age of blocks by earlier snapshots of the same process.
#include "runner/snapshot/view/snapshot_ages.h"

#include <gmock/gmock.h>

#include "runner/snapshot/view/show_snapshot.h"
#include "runner/snapshot/view/snapshot_view.h"
#include "tests/unit/snapshot/file/sample_snapshot.h"

namespace leakgate {
namespace {

using sample::Facts;
using sample::Written;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint64_t kSecond = 1'000'000'000;

struct AgedBlock {
  std::uint64_t address;
  std::uint64_t bytes = 1;
  std::uint64_t pc = 0x11;
};

class SnapshotAgesTest : public testing::Test {
 protected:
  // Taken so many seconds after the machine started. Each file has a stack of its own first,
  // so that equal stacks have different ids.
  std::string Take(std::uint64_t second, const std::vector<AgedBlock>& blocks, int pid = 7) {
    SnapshotFacts facts = Facts();
    facts.pid = pid;
    facts.taken_ns = second * kSecond;
    facts.tracing_begin_ns = kSecond;
    const SnapshotClosing closing{.finished_ns = second * kSecond,
                                  .agent_state = AgentState::kTracing};
    const auto fill = [&](SnapshotWriter& writer) {
      writer.Add(SnapshotModule{.id = 1, .module = {0, 0x9'0000, 0, "/src/net_test", "ab"}});
      (void)writer.Add(SnapshotNode{0x1000 + second, 0, 1});
      for (const AgedBlock& it : blocks) {
        const std::uint32_t stack = writer.Add(SnapshotNode{it.pc, 0, 1});
        writer.Add(LiveBlock{it.address, it.bytes, AllocationKind::kNew, false, 0, stack, 0, 0});
      }
    };
    const std::string name = std::to_string(second) + "-" + std::to_string(pid) + ".snapshot";
    return directory_.Write(name, Written(facts, closing, fill));
  }

  using Since = std::vector<std::filesystem::path>;
  struct Row {
    std::string name;
    std::string place;
    std::int64_t bytes;
    bool operator==(const Row&) const = default;
    friend void PrintTo(const Row& row, std::ostream* out) {
      *out << row.name << " | " << row.place << " | " << row.bytes;
    }
  };
  // The oldest first.
  static std::vector<Row> Ages(const std::string& file, const Since& since,
                               const std::vector<std::string>& filters = {}) {
    SnapshotView view({.stacks = {.filters = filters}, .since = since}, Symbolizer(nullptr, {}));
    const Expected<void> read = view.Read(file);
    EXPECT_TRUE(read) << read.error().message;
    std::vector<Row> rows;
    if (!read) return rows;
    for (const SnapshotAges::Age& age : view.ages()->Ages()) {
      rows.push_back({age.name, age.place, age.amount.bytes});
    }
    return rows;
  }
  static std::string ErrorOf(const std::string& file, const Since& since) {
    SnapshotView view({.stacks = {.filters = {}}, .since = since}, Symbolizer(nullptr, {}));
    const Expected<void> read = view.Read(file);
    return read ? "" : read.error().message;
  }

  test::TemporaryDirectory directory_;
};

// As the header draws it.
TEST_F(SnapshotAgesTest, AreTheTimeSinceAllSnapshotsHaveTheBlock) {
  const AgedBlock a{32, 1};
  const AgedBlock b{64, 2};
  const AgedBlock c{96, 4};
  const AgedBlock d{128, 8};
  const std::string first = Take(10, {a, c});
  const std::string second = Take(20, {a, b});
  const std::string third = Take(30, {a, b, c});
  EXPECT_THAT(Ages(Take(40, {a, b, c, d}), {third, first, second}),
              ElementsAre(Row{"at least 30.00 s", "in 10-7.snapshot already", 1},
                          Row{"20.00 s to 30.00 s", "first in 20-7.snapshot", 2},
                          Row{"10.00 s to 20.00 s", "first in 30-7.snapshot", 4},
                          Row{"at most 10.00 s", "not in 30-7.snapshot", 8}));
}

TEST_F(SnapshotAgesTest, TellAnotherBlockAtTheSameAddressApart) {
  const std::string before = Take(10, {{32, 1, 0x11}, {64, 1, 0x11}, {96, 1, 0x11}});
  EXPECT_THAT(Ages(Take(20, {{32, 1, 0x11}, {64, 1, 0x22}, {96, 2, 0x11}}), {before}),
              ElementsAre(Row{"at least 10.00 s", "in 10-7.snapshot already", 1},
                          Row{"at most 10.00 s", "not in 10-7.snapshot", 3}));
}

TEST_F(SnapshotAgesTest, AreThoseOfTheBlocksThatAreShown) {
  const std::string before = Take(10, {{32, 1, 0x11}});
  const std::string now = Take(20, {{32, 1, 0x11}, {64, 2, 0x22}});
  EXPECT_THAT(Ages(now, {before}, {"module:net_*"}), SizeIs(2));
  EXPECT_THAT(Ages(now, {before}, {"module:other"}), SizeIs(0));
}

TEST_F(SnapshotAgesTest, AreToldByAllEarlierOnesInADirectory) {
  Take(10, {{32}});
  Take(15, {{32}}, 8);  // of another process
  Take(20, {{32}, {64}});
  Take(50, {{32}, {64}});  // later
  directory_.Write("notes.txt", "no snapshot");
  EXPECT_THAT(Ages(Take(30, {{32}, {64}, {96}}), {directory_.path()}),
              ElementsAre(Row{"at least 20.00 s", "in 10-7.snapshot already", 1},
                          Row{"10.00 s to 20.00 s", "first in 20-7.snapshot", 1},
                          Row{"at most 10.00 s", "not in 20-7.snapshot", 1}));
}

TEST_F(SnapshotAgesTest, OfManySnapshotsAreToldBySomeWithTheOldestAndTheNewest) {
  std::vector<AgedBlock> blocks;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    blocks.push_back({32 * i, 1});
    Take(10 + i, blocks);
  }
  const std::vector<Row> ages = Ages(Take(200, blocks), {directory_.path()});
  EXPECT_THAT(ages, SizeIs(SnapshotAges::kMostFiles));
  EXPECT_EQ(ages.front(), (Row{"at least 3 min 9 s", "in 11-7.snapshot already", 1}));
  EXPECT_EQ(ages.back().place, "first in 110-7.snapshot");
}

// A part of a file holds some thousands.
TEST_F(SnapshotAgesTest, AreToldOfMoreBlocksThanAPartHolds) {
  std::vector<AgedBlock> before;
  std::vector<AgedBlock> now;
  for (std::uint64_t i = 1; i <= 50'000; ++i) {
    now.push_back({i * 32});
    if (i % 2 == 0) before.push_back({i * 32});
  }
  EXPECT_THAT(Ages(Take(20, now), {Take(10, before)}),
              ElementsAre(Row{"at least 10.00 s", "in 10-7.snapshot already", 25'000},
                          Row{"at most 10.00 s", "not in 10-7.snapshot", 25'000}));
}

TEST_F(SnapshotAgesTest, AreShownInsteadOfThoseByWindows) {
  const std::string before = Take(10, {{32, 5}});
  SnapshotView view({.stacks = {.filters = {}}, .since = {before}}, Symbolizer(nullptr, {}));
  ASSERT_TRUE(view.Read(Take(20, {{32, 5}, {64, 7}})));
  EXPECT_THAT(ShowText(view, {.group_by = GroupBy::kAge}, {}),
              AllOf(HasSubstr("at least 10.00 s  in 10-7.snapshot already"),
                    HasSubstr("at most 10.00 s  not in 10-7.snapshot")));
}

TEST_F(SnapshotAgesTest, NeedEarlierOnesOfTheSameProcess) {
  const std::string now = Take(20, {{32}});
  EXPECT_THAT(ErrorOf(now, {now}), HasSubstr("it is not earlier than the snapshot to show"));
  EXPECT_THAT(ErrorOf(now, {Take(30, {})}), HasSubstr("it is not earlier"));
  EXPECT_THAT(ErrorOf(now, {directory_.path()}),
              HasSubstr("there is no earlier snapshot of the same process in it"));
  EXPECT_THAT(ErrorOf(now, {Take(10, {}, 8)}), HasSubstr("it is of another process"));
  EXPECT_THAT(ErrorOf(now, {"/no/such/file"}), HasSubstr("/no/such/file"));
}

TEST_F(SnapshotAgesTest, SayThatAnEarlierOneIsCutOff) {
  const std::string now = Take(20, {{32}});
  const std::string before = Take(10, {{32}});
  const std::string whole = test::ReadFile(before);
  directory_.Write("10-7.snapshot", whole.substr(0, whole.size() - 1));
  EXPECT_THAT(ErrorOf(now, {before}), HasSubstr("10-7.snapshot: the snapshot was cut off"));
}

}  // namespace
}  // namespace leakgate
