// Mappings of two snapshots beside each other.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "runner/snapshot/view/snapshot_diff.h"
#include "runner/snapshot/view/stack_changes.h"
#include "tests/support/processor_time.h"
#include "tests/unit/snapshot/file/sample_snapshot.h"

namespace leakgate {
namespace {

using sample::Facts;
using sample::Written;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::uint64_t kPage = 4096;

struct Pages {
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  std::uint32_t stack = 7;
  std::uint64_t mapped_ns = 1;
  std::uint32_t protection = 3;
};

std::vector<SnapshotMapping> Mappings(const std::vector<Pages>& pages) {
  std::vector<SnapshotMapping> mappings;
  for (const Pages& it : pages) {
    mappings.push_back({.address = it.first * kPage,
                        .bytes = it.count * kPage,
                        .protection = it.protection,
                        .stack = it.stack,
                        .mapped_ns = it.mapped_ns});
  }
  return mappings;
}

// In pages, and mappings.
SnapshotChange Compare(const std::vector<Pages>& before, const std::vector<Pages>& after) {
  SnapshotChange total;
  for (const auto& [stack, change] : CompareMappings(Mappings(before), Mappings(after))) {
    total += change;
  }
  for (Amount* const amount : {&total.before, &total.after, &total.appeared, &total.gone}) {
    amount->bytes /= static_cast<std::int64_t>(kPage);
  }
  return total;
}

TEST(MappingDiffTest, KeepsWhatBothHave) {
  const SnapshotChange change = Compare({{10, 3}}, {{10, 3}});
  EXPECT_EQ(change, (SnapshotChange{{3, 1}, {3, 1}, {}, {}}));
}

TEST(MappingDiffTest, TellsWhatHasAppearedAndGone) {
  const SnapshotChange change = Compare({{10, 3}}, {{20, 5}});
  EXPECT_EQ(change.gone, (Amount{3, 1}));
  EXPECT_EQ(change.appeared, (Amount{5, 1}));
}

// The kernel hands out the same addresses again.
TEST(MappingDiffTest, TellsAnotherMappingAtTheSamePlaceApart) {
  for (const Pages other : {Pages{10, 3, 8, 1}, Pages{10, 3, 7, 2}}) {
    const SnapshotChange change = Compare({{10, 3, 7, 1}}, {other});
    EXPECT_EQ(change.gone, (Amount{3, 1}));
    EXPECT_EQ(change.appeared, (Amount{3, 1}));
  }
}

TEST(MappingDiffTest, KeepsBothEndsOfOneThatWasCutInTheMiddle) {
  const SnapshotChange change = Compare({{10, 10}}, {{10, 2}, {17, 3}});
  EXPECT_EQ(change.gone, (Amount{5, 0}));
  EXPECT_EQ(change.appeared, Amount{});
  EXPECT_EQ(change.Growth(), (Amount{-5, 1}));
}

TEST(MappingDiffTest, TellsWhatOneHasGrownBy) {
  const SnapshotChange change = Compare({{10, 2}}, {{10, 6}});
  EXPECT_EQ(change.appeared, (Amount{4, 0}));
  EXPECT_EQ(change.gone, Amount{});
}

TEST(MappingDiffTest, LeavesOutWhatIsOnlyReserved) {
  const Pages reserved{.first = 10, .count = 9, .protection = 0};
  EXPECT_EQ(Compare({reserved}, {reserved}), SnapshotChange{});
  const SnapshotChange committed = Compare({reserved}, {{10, 4, 8}, reserved});
  EXPECT_EQ(committed.appeared, (Amount{4, 1}));
  EXPECT_EQ(committed.before, Amount{});
}

// A range that changes hands while it is copied may be told of twice.
TEST(MappingDiffTest, CountsNoByteTwiceThatIsToldOfTwice) {
  const SnapshotChange change = Compare({{10, 4}, {10, 4}}, {{10, 4}});
  EXPECT_EQ(change.appeared, Amount{});
  EXPECT_EQ(change.gone, Amount{});
}

class MappingsOfFilesTest : public testing::Test {
 protected:
  struct Mapped {
    std::uint64_t address;
    std::uint64_t bytes;
    std::uint64_t pc;
  };

  // Written with other ids of stacks, where `first_pc` is another.
  std::string Write(const std::string& name, int pid, std::uint64_t taken_ns,
                    const std::vector<Mapped>& mapped, std::uint64_t first_pc) {
    SnapshotFacts facts = Facts();
    facts.pid = pid;
    facts.taken_ns = taken_ns;
    facts.not_recorded = {};
    const auto fill = [&](SnapshotWriter& writer) {
      writer.Add(SnapshotModule{.id = 1, .module = {0, 0x9000, 0, "/src/build/net_test", "ab"}});
      writer.Add(SnapshotWindow{.id = 1});
      (void)writer.Add(SnapshotNode{first_pc, 0, 1});
      std::vector<std::uint32_t> stacks;
      for (const Mapped& it : mapped) stacks.push_back(writer.Add(SnapshotNode{it.pc, 0, 1}));
      for (std::size_t i = 0; i < mapped.size(); ++i) {
        writer.Add(SnapshotMapping{.address = mapped[i].address,
                                   .bytes = mapped[i].bytes,
                                   .protection = 3,
                                   .stack = stacks[i],
                                   .window = 1,
                                   .mapped_ns = 9});
      }
    };
    return directory_.Write(name, Written(facts, {.agent_state = AgentState::kTracing}, fill));
  }

  SnapshotDiff Diff(int second_pid, const DiffQuery& query = {}) {
    const std::string first =
        Write("first", 1, 1, {{kPage, kPage, 0x11}, {9 * kPage, 2 * kPage, 0x21}}, 0x51);
    const std::string second =
        Write("second", second_pid, 2, {{kPage, kPage, 0x11}, {30 * kPage, 8 * kPage, 0x31}}, 0x21);
    return DiffSnapshots(first, second, query).value();
  }

  test::TemporaryDirectory directory_;
};

TEST_F(MappingsOfFilesTest, AreComparedBySite) {
  const SnapshotDiff diff = Diff(1);
  EXPECT_TRUE(diff.is_same_process);
  EXPECT_THAT(diff.sites, IsEmpty());
  ASSERT_THAT(diff.mapped_sites, SizeIs(2));
  EXPECT_EQ(diff.mapped_sites[0].name, "net_test+0x30");
  EXPECT_EQ(diff.mapped_sites[0].sums.appeared, (Amount{32768, 1}));
  EXPECT_EQ(diff.mapped_sites[1].name, "net_test+0x20");
  EXPECT_EQ(diff.mapped_sites[1].sums.gone, (Amount{8192, 1}));
  EXPECT_EQ(diff.mapped.before, (Amount{12288, 2}));
  EXPECT_EQ(diff.mapped.after, (Amount{36864, 2}));
}

TEST_F(MappingsOfFilesTest, AreShownApartFromBlocks) {
  const std::string text = DiffText(Diff(1), std::nullopt, {});
  EXPECT_THAT(text, HasSubstr("Mapped by the program itself, besides what is live\n"
                              "  before     12.0 KiB in 2 mappings\n"
                              "  after      36.0 KiB in 2 mappings: +24.0 KiB (+0 mappings)\n"
                              "  appeared   32.0 KiB in 1 mapping: mapped in between, and mapped "
                              "still\n"
                              "  gone       8192 B in 1 mapping\n"
                              "  kept       4096 B in 1 mapping\n"));
  EXPECT_THAT(text, HasSubstr("\nMapped more\n       GROWTH          BYTES  MAPPINGS"));
  EXPECT_THAT(text, HasSubstr("\nMapped less\n"));
  EXPECT_THAT(text, Not(HasSubstr("Nothing has changed.")));
}

TEST_F(MappingsOfFilesTest, AreInTheJson) {
  const nlohmann::json json = nlohmann::json::parse(DiffJson(Diff(1), std::nullopt).dump());
  EXPECT_EQ(json["mapped"]["total"]["appeared"]["bytes"], 32768);
  EXPECT_EQ(json["mapped"]["total"]["appeared"]["mappings"], 1);
  ASSERT_THAT(json["mapped"]["sites"], SizeIs(2));
  EXPECT_EQ(json["mapped"]["sites"][0]["growth"]["bytes"], 32768);
}

TEST_F(MappingsOfFilesTest, AreFilteredAsBlocksAre) {
  EXPECT_THAT(Diff(1, {.filters = {"module:net_*"}, .symbols = {}}).mapped_sites, SizeIs(2));
  EXPECT_THAT(Diff(1, {.filters = {"module:other"}, .symbols = {}}).mapped_sites, IsEmpty());
  EXPECT_THAT(Diff(2, {.filters = {"module:other"}, .symbols = {}}).mapped_sites, IsEmpty());
}

TEST_F(MappingsOfFilesTest, AreComparedBetweenTwoProcesses) {
  const SnapshotDiff diff = Diff(2);
  EXPECT_FALSE(diff.is_same_process);
  std::vector<std::int64_t> growth;
  for (const SiteChange& site : diff.mapped_sites) growth.push_back(site.sums.Growth().bytes);
  EXPECT_THAT(growth, ElementsAre(32768, -8192));
}

TEST_F(MappingsOfFilesTest, AreNotSpokenOfWhereThereAreNone) {
  const std::string first = Write("first", 1, 1, {}, 0x51);
  const std::string second = Write("second", 1, 2, {}, 0x51);
  const std::string text = DiffText(DiffSnapshots(first, second, {}).value(), std::nullopt, {});
  EXPECT_THAT(text, Not(HasSubstr("Mapped by")));
  EXPECT_THAT(text, HasSubstr("Nothing has changed."));
}

TEST(MappingDiffTest, MappingsOfOneCallThatLieInEachOtherAreThereOnce) {
  const SnapshotChange change =
      Compare({{.first = 10, .count = 8}}, {{.first = 8, .count = 4}, {.first = 10, .count = 20}});
  EXPECT_EQ(change.gone.bytes, 0);
  EXPECT_EQ(change.appeared.bytes, 2 + 12);
}

// A file may say of all its mappings that one call made them.
TEST(MappingDiffTest, CostsAsMuchForEachMappingHoweverManyOneCallHasMade) {
  const auto make = [](std::size_t count) {
    std::vector<Pages> pages;
    for (std::size_t i = 0; i < count; ++i) pages.push_back({.first = 2 * i});
    return Mappings(pages);
  };
  const double growth =
      test::GrowthOfCost(2'000, make, [](const std::vector<SnapshotMapping>& mappings) {
        for (const auto& [stack, change] : CompareMappings(mappings, mappings)) {
          EXPECT_EQ(change.gone.bytes + change.appeared.bytes, 0);
        }
      });
  EXPECT_LT(growth, test::kMostGrowth);
}

}  // namespace
}  // namespace leakgate
