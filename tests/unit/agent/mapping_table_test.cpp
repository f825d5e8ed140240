// The table of mappings, as the agent keeps it and the reader reads it. Ranges are
// written as pages, from a number that no other test uses.
#include "plugin/agent/mappings/mapping_table.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "plugin/agent/record/mapping_recorder.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

using agent::AddressRange;
using agent::g_mappings;
using agent::MappingNature;
using agent::TakenMappings;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A piece that the reader tells, in pages from the test's first.
struct Piece {
  std::uint64_t first = 0;
  std::uint64_t pages = 0;
  std::uint32_t stack = 0;

  bool operator==(const Piece&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Piece& piece) {
  return out << piece.pages << " pages from " << piece.first << " by " << piece.stack;
}

constexpr MappingNature kPlain{AllocationKind::kMapped, 3};
constexpr MappingNature kReserved{AllocationKind::kMapped, 0};

bool IsThere(std::uint64_t) { return true; }
bool IsGone(std::uint64_t) { return false; }

class MappingTableTest : public RecordingTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(agent::CanRecord());
    window_ = OpenWindow();
    const agent::RecordingGuard guard;
    context_ = agent::ContextNow(guard);
    ASSERT_NE(context_, 0U);
  }
  void TearDown() override {
    Unmap(0, kPages);
    EXPECT_EQ(CountInWindow(), 0);
    LeaveWindow(window_);
  }

  static constexpr std::uint64_t kPages = 1U << 20;
  static AddressRange Pages(std::uint64_t first, std::uint64_t count) {
    constexpr std::uint64_t kFirst = 0x1000'0000'0000;
    return {kFirst + first * 4096, kFirst + (first + count) * 4096};
  }
  agent::MappingOrigin By(std::uint32_t stack) { return {stack, context_, ++time_ns_}; }

  void Map(std::uint64_t first, std::uint64_t count, std::uint32_t stack,
           MappingNature nature = kPlain) {
    const agent::RecordingGuard guard;
    g_mappings.Add(Pages(first, count), By(stack), nature);
  }
  static TakenMappings Take(std::uint64_t first, std::uint64_t count) {
    const agent::RecordingGuard guard;
    return g_mappings.Take(Pages(first, count));
  }
  static void Unmap(std::uint64_t first, std::uint64_t count) {
    const TakenMappings taken = Take(first, count);
    const agent::RecordingGuard guard;
    g_mappings.Forget(taken);
  }
  static void PutBack(TakenMappings taken, bool (*is_mapped)(std::uint64_t)) {
    const agent::RecordingGuard guard;
    g_mappings.PutBack(taken, is_mapped);
  }
  // As mremap does, in any direction.
  void Remap(std::uint64_t from, std::uint64_t from_count, std::uint64_t to, std::uint64_t to_count,
             std::uint32_t stack) {
    const TakenMappings taken = Take(from, from_count);
    const agent::RecordingGuard guard;
    g_mappings.Move(taken, Pages(from, 1).begin, Pages(to, to_count));
    if (to_count <= from_count) return;
    g_mappings.Grow(Pages(to + from_count, to_count - from_count), By(stack));
  }
  void Commit(std::uint64_t first, std::uint64_t count, std::uint32_t stack) {
    const agent::RecordingGuard guard;
    g_mappings.Commit(Pages(first, count), By(stack), 3);
  }
  static void Decommit(std::uint64_t first, std::uint64_t count) {
    const agent::RecordingGuard guard;
    g_mappings.Decommit(Pages(first, count));
  }

  std::vector<Piece> PiecesThat(bool (*wanted)(const MappingCopy&)) const {
    std::vector<Piece> pieces;
    for (const MappingCopy& mapping : Reader().Mappings()) {
      if (mapping.window != window_ || !wanted(mapping)) continue;
      pieces.push_back(
          {(mapping.address - Pages(0, 0).begin) / 4096, mapping.size_bytes / 4096, mapping.stack});
    }
    return pieces;
  }
  std::vector<Piece> Committed() const {
    return PiecesThat([](const MappingCopy& mapping) { return !IsReserved(mapping); });
  }
  std::vector<Piece> Reserved() const {
    return PiecesThat([](const MappingCopy& mapping) { return IsReserved(mapping); });
  }
  std::int64_t CountInWindow() const { return agent::g_region.windows()[window_].mappings.load(); }

  std::uint32_t window_ = 0;
  std::uint32_t context_ = 0;
  std::uint64_t time_ns_ = 0;
};

TEST_F(MappingTableTest, TellsWhatWasMappedWithAllThatIsKnownOfIt) {
  Map(7, 2, 30, {AllocationKind::kMappedFile, 1});
  std::vector<MappingCopy> found;
  for (const MappingCopy& mapping : Reader().Mappings()) {
    if (mapping.window == window_) found.push_back(mapping);
  }
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].address, Pages(7, 0).begin);
  EXPECT_EQ(found[0].size_bytes, 2U * 4096);
  EXPECT_EQ(found[0].kind, AllocationKind::kMappedFile);
  EXPECT_EQ(found[0].protection, 1U);
  EXPECT_EQ(found[0].stack, 30U);
  EXPECT_EQ(found[0].thread, agent::t_thread.state->thread);
  EXPECT_EQ(found[0].time_ns, 1U);
  EXPECT_EQ(CountInWindow(), 1);
}

TEST_F(MappingTableTest, ForgetsWhatWasUnmapped) {
  Map(0, 4, 30);
  Unmap(0, 4);
  EXPECT_THAT(Committed(), IsEmpty());
  EXPECT_EQ(CountInWindow(), 0);
}

TEST_F(MappingTableTest, KeepsTheTailWhereTheHeadIsUnmapped) {
  Map(0, 4, 30);
  Unmap(0, 1);
  EXPECT_THAT(Committed(), ElementsAre(Piece{1, 3, 30}));
}

TEST_F(MappingTableTest, KeepsTheHeadWhereTheTailIsUnmapped) {
  Map(0, 4, 30);
  Unmap(3, 9);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 3, 30}));
}

TEST_F(MappingTableTest, KeepsBothEndsWhereTheMiddleIsUnmapped) {
  Map(0, 4, 30);
  Unmap(1, 2);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 1, 30}, Piece{3, 1, 30}));
  EXPECT_EQ(CountInWindow(), 2);
}

TEST_F(MappingTableTest, UnmapsManyAtOnceAndCutsThoseAtTheEnds) {
  for (std::uint32_t i = 0; i < 10; ++i) Map(i * 10, 5, 30 + i);
  Unmap(2, 90);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 2, 30}, Piece{92, 3, 39}));
}

TEST_F(MappingTableTest, LeavesNeighboursOfOneCallSiteApart) {
  Map(0, 1, 30);
  Map(1, 1, 30);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 1, 30}, Piece{1, 1, 30}));
}

TEST_F(MappingTableTest, ReplacesWhatAFixedMappingCovers) {
  Map(0, 4, 30);
  Map(1, 2, 31);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 1, 30}, Piece{1, 2, 31}, Piece{3, 1, 30}));
}

TEST_F(MappingTableTest, IsAsBeforeWhereUnmappingFailed) {
  Map(0, 4, 30);
  Map(4, 2, 30);
  Map(8, 4, 31);
  PutBack(Take(1, 9), IsThere);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 4, 30}, Piece{4, 2, 30}, Piece{8, 4, 31}));
  EXPECT_EQ(CountInWindow(), 3);
}

TEST_F(MappingTableTest, PutsNothingBackThatIsGoneAllTheSame) {
  Map(0, 4, 30);
  PutBack(Take(0, 4), IsGone);
  EXPECT_THAT(Committed(), IsEmpty());
}

TEST_F(MappingTableTest, PutsNothingBackOverWhatIsNewer) {
  Map(0, 4, 30);
  const TakenMappings taken = Take(0, 4);
  Map(3, 4, 31);
  PutBack(taken, IsThere);
  EXPECT_THAT(Committed(), ElementsAre(Piece{3, 4, 31}));
}

TEST_F(MappingTableTest, ForgetsNothingOfWhatWasTakenBeforeTracingBeganAnew) {
  Map(0, 4, 30);
  const TakenMappings taken = Take(0, 4);
  ++agent::g_span;  // as if into another region, whose records have the same numbers
  EXPECT_TRUE(taken.empty());
  {
    const agent::RecordingGuard guard;
    g_mappings.Forget(taken);
    g_mappings.PutBack(taken, IsThere);
  }
  --agent::g_span;
  PutBack(taken, IsThere);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 4, 30}));
}

TEST_F(MappingTableTest, TakesNothingOfARangeThatChangedHandsMeanwhile) {
  Map(0, 4, 30);
  const TakenMappings taken = Take(0, 4);
  Map(0, 4, 31);  // the kernel gave it to another thread
  {
    const agent::RecordingGuard guard;
    g_mappings.Forget(taken);
  }
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 4, 31}));
}

TEST_F(MappingTableTest, ChargesWhatGrewInItsOwnWindowToTheCallThatGrewIt) {
  Map(0, 2, 30);
  Remap(0, 2, 0, 5, 31);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 5, 31}));
}

TEST_F(MappingTableTest, ChargesALaterWindowWithTheGrowthAlone) {
  Map(0, 2, 30);
  const std::uint32_t later = OpenWindow();
  {
    const agent::RecordingGuard guard;
    context_ = agent::ContextNow(guard);
  }
  Remap(0, 2, 100, 5, 31);
  EXPECT_THAT(Committed(), ElementsAre(Piece{100, 2, 30}));
  const std::uint32_t first = std::exchange(window_, later);
  EXPECT_THAT(Committed(), ElementsAre(Piece{102, 3, 31}));
  Unmap(0, kPages);
  LeaveWindow(later);
  window_ = first;
}

TEST_F(MappingTableTest, KeepsTheCallThatMappedWhatShrinks) {
  Map(0, 5, 30);
  Remap(0, 5, 0, 2, 31);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 2, 30}));
}

TEST_F(MappingTableTest, KeepsTheCallThatMappedWhatMovesOverAnother) {
  Map(0, 2, 30);
  Map(10, 4, 31);
  Remap(0, 2, 11, 2, 32);
  EXPECT_THAT(Committed(), ElementsAre(Piece{10, 1, 31}, Piece{11, 2, 30}, Piece{13, 1, 31}));
}

TEST_F(MappingTableTest, MovesPiecesAtTheirDistances) {
  Map(0, 4, 30);
  Unmap(1, 1);
  Remap(0, 4, 50, 3, 31);
  EXPECT_THAT(Committed(), ElementsAre(Piece{50, 1, 30}, Piece{52, 1, 30}));
}

TEST_F(MappingTableTest, ChargesWhatIsCommittedToTheCallThatCommits) {
  Map(0, 10, 30, kReserved);
  EXPECT_EQ(CountInWindow(), 0);
  Commit(3, 2, 31);
  EXPECT_THAT(Committed(), ElementsAre(Piece{3, 2, 31}));
  EXPECT_THAT(Reserved(), ElementsAre(Piece{0, 3, 30}, Piece{5, 5, 30}));
  EXPECT_EQ(CountInWindow(), 1);
}

TEST_F(MappingTableTest, TakesWhatOnePlaceCommitsBitByBitForOne) {
  Map(0, 10, 30, kReserved);
  Commit(2, 1, 31);
  Commit(4, 1, 31);
  Commit(3, 1, 31);
  Commit(5, 1, 32);
  EXPECT_THAT(Committed(), ElementsAre(Piece{2, 3, 31}, Piece{5, 1, 32}));
}

TEST_F(MappingTableTest, LeavesWhatIsCommittedAlreadyToItsOwner) {
  Map(0, 4, 30);
  Map(4, 4, 31, kReserved);
  Commit(2, 4, 32);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 4, 30}, Piece{4, 2, 32}));
}

TEST_F(MappingTableTest, CountsNothingThatIsOnlyReservedAgain) {
  Map(0, 10, 30, kReserved);
  Commit(0, 10, 31);
  Decommit(2, 8);
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 2, 31}));
  Decommit(0, 10);
  EXPECT_THAT(Committed(), IsEmpty());
  EXPECT_EQ(Reserved().size(), 1U);
  EXPECT_EQ(CountInWindow(), 0);
}

TEST_F(MappingTableTest, KnowsWhetherARangeHoldsAnythingReserved) {
  Map(0, 4, 30, kReserved);
  Map(4, 4, 30);
  const agent::RecordingGuard guard;
  EXPECT_TRUE(g_mappings.HasReserved(Pages(3, 2)));
  EXPECT_TRUE(g_mappings.HasReserved(Pages(1, 1)));
  EXPECT_FALSE(g_mappings.HasReserved(Pages(4, 9)));
}

TEST_F(MappingTableTest, TellsAStackBeforeItsThreadHasBegun) {
  std::uint32_t id = 0;
  {
    const agent::RecordingGuard guard;
    id = g_mappings.AddStack(0x8000, By(30));
  }
  EXPECT_EQ(CountInWindow(), 1);
  g_mappings.PlaceStack(id, Pages(5, 0).begin);
  EXPECT_THAT(Committed(), ElementsAre(Piece{5, 8, 30}));
  const agent::RecordingGuard guard;
  g_mappings.ForgetStack(id);
}

// Every page by itself, in an order that is none.
TEST_F(MappingTableTest, FindsEachOfManyPieces) {
  constexpr std::uint64_t kMany = 5000;
  for (std::uint64_t i = 0; i < kMany; ++i) Map(2 * (i * 3571 % kMany), 1, 30);
  EXPECT_EQ(CountInWindow(), static_cast<std::int64_t>(kMany));
  for (std::uint64_t i = 0; i < kMany; i += 2) Unmap(2 * i, 1);
  const std::vector<Piece> left = Committed();
  ASSERT_EQ(left.size(), kMany / 2);
  for (std::uint64_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i].first, 4 * i + 2);
}

TEST_F(MappingTableTest, CountsADropOnlyWhereThereIsNoRoom) {
  const std::uint64_t drops = Reader().Drops(DropReason::kMappingTableFull);
  std::uint64_t mapped = 0;
  while (Reader().Drops(DropReason::kMappingTableFull) == drops && mapped < kPages) {
    Map(2 * mapped++, 1, 30);
  }
  EXPECT_GT(mapped, kMaxMappings / 2);
  EXPECT_EQ(Reader().Drops(DropReason::kMappingTableFull), drops + 1);
  // One too many: nothing else is lost, and what is unmapped makes room.
  Unmap(0, 1);
  Map(0, 1, 31);
  EXPECT_EQ(Reader().Drops(DropReason::kMappingTableFull), drops + 1);
  Unmap(0, 2 * kPages);
}

TEST_F(MappingTableTest, IsReadWholeWhileItChanges) {
  std::atomic<bool> is_done{false};
  std::thread changer([&] {
    if (!agent::CanRecord()) return;
    for (int i = 0; i < 20'000; ++i) {
      const agent::RecordingGuard guard;
      const std::uint64_t size = 1 + static_cast<std::uint64_t>(i % 7);
      // Each piece is as many pages as its stack says.
      g_mappings.Add(Pages(100, size), {static_cast<std::uint32_t>(size), context_, 1}, kPlain);
      g_mappings.Forget(g_mappings.Take(Pages(100, 10)));
    }
    is_done = true;
  });
  while (!is_done) {
    for (const Piece& piece : Committed()) ASSERT_EQ(piece.pages, piece.stack);
  }
  changer.join();
}

TEST_F(MappingTableTest, ReadsNothingOfARecordThatIsLeftHalfWritten) {
  Map(0, 4, 30);
  for (std::uint32_t id = 1; id <= agent::g_region.mapping_totals().record_count; ++id) {
    MappingRecord& record = agent::g_region.mappings()[id];
    if (record.begin != Pages(0, 0).begin) continue;
    record.sequence.fetch_add(1);
    EXPECT_THAT(Committed(), IsEmpty());
    record.sequence.fetch_add(1);
  }
  EXPECT_THAT(Committed(), ElementsAre(Piece{0, 4, 30}));
}

// As when tracing is enabled in it.
TEST_F(MappingTableTest, BeginsAnewInAForkChildWhoeverHeldItsLock) {
  std::atomic<bool> is_done{false};
  std::thread other([&] {
    while (!is_done) {
      Map(0, 1, 5);
      Unmap(0, 1);
    }
  });
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      g_mappings.Restart();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "fork " << i;
  }
  is_done = true;
  other.join();
}

TEST_F(MappingTableTest, ReadsNothingThatIsNoMapping) {
  Map(0, 4, 30);
  std::atomic<std::uint32_t>& count = agent::g_region.mapping_totals().record_count;
  const std::uint32_t before = count;
  MappingRecord& record = agent::g_region.mappings()[before];
  const MappingRecord& scribbled = record;
  const std::uint64_t begin = record.begin;
  for (const std::uint64_t wild : {~std::uint64_t{0}, ~std::uint64_t{0} - 4096}) {
    record.begin = wild;
    for (const MappingCopy& mapping : Reader().Mappings()) EXPECT_NE(mapping.address, wild);
  }
  record.begin = begin;
  const AllocationKind kind = scribbled.kind;
  record.kind = AllocationKind::kMalloc;
  for (const MappingCopy& mapping : Reader().Mappings()) {
    EXPECT_NE(mapping.kind, AllocationKind::kMalloc);
  }
  record.kind = kind;
  count = ~0U;  // no further than the table
  EXPECT_FALSE(Reader().Mappings().empty());
  count = before;
}

}  // namespace
}  // namespace leakgate::test
