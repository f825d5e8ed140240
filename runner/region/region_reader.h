// Reads a region, while the test process runs and after it has ended.
//
// The process may write anything into the region at any time, so its content is hostile input:
// each value is copied once, the copy is checked, and only the copy is used. A value that is out
// of bounds reads as empty. Any thread may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/region/amount.h"
#include "runner/region/damage.h"
#include "runner/region/region_copies.h"

namespace leakgate {

class ClaimedMemory;
class LiveChunks;
class WindowContexts;
struct ContextRange;
struct SeenMemory;

class RegionReader {
 public:
  // Maps the tables of the region behind `fd`. Fails if `fd` is no region, or one of another
  // layout version. REQUIRES: `fd` outlives the reader.
  [[nodiscard]] static Expected<RegionReader> Attach(const UniqueFd& fd);

  // Returns false if the process has overwritten values that must be there; then no other value
  // can be relied on. True does not prove the opposite.
  [[nodiscard]] bool IsWhole() const;

  // The PID at the time of Attach. It is true in the runner that made the region, because that
  // attaches before the process has the region. Elsewhere it is only what the process claims.
  int Pid() const { return pid_; }
  // Returns the inode of the region's memory, which /proc/PID/maps shows for it; 0 if not known.
  [[nodiscard]] std::uint64_t Inode() const;
  [[nodiscard]] std::uint32_t Generation() const;   // counts the execs of the PID, from 1
  [[nodiscard]] std::uint32_t StackDepth() const;   // the most frames that a stack has
  [[nodiscard]] bool CountsTemporary() const;       // whether totals have temporary blocks
  [[nodiscard]] std::uint32_t StackEvents() const;  // bits for the events whose stacks are recorded
  // Whether the initialiser of a local static variable was interrupted: it may run again.
  [[nodiscard]] bool StaticWasAborted() const;
  [[nodiscard]] bool HasOwnOperators() const;  // new and delete are the program's own
  // Whether an agent in the process fills the region. If not, the runner does, and knows of all
  // blocks of the system's heaps (region_writer.h).
  [[nodiscard]] bool HasAgent() const;
  [[nodiscard]] AgentState State() const;
  [[nodiscard]] AgentFailure Failure() const;
  [[nodiscard]] BoundarySource Boundaries() const;
  [[nodiscard]] ProgramEnd End() const;
  // When tracing was enabled in a process that was already running, by CLOCK_REALTIME. Nothing
  // is known about the time before. 0 if the process was traced from its first instruction.
  [[nodiscard]] std::uint64_t AttachedAtNs() const;
  [[nodiscard]] std::uint32_t WindowCount() const;  // ids are from 1 to less than this
  [[nodiscard]] std::uint32_t CurrentWindow() const;
  [[nodiscard]] std::uint64_t Drops(DropReason reason) const;
  [[nodiscard]] std::uint64_t StackEnds(UnwindEnd end) const;

  [[nodiscard]] WindowCopy Window(std::uint32_t id) const;
  [[nodiscard]] WindowKind KindOf(std::uint32_t window) const;
  // Returns the window of a context (common/region_layout.h); 0 if there is no such context.
  [[nodiscard]] std::uint32_t WindowOfContext(std::uint32_t context) const;
  [[nodiscard]] RawStack Stack(std::uint32_t id) const;
  // Returns nullopt if there is no such node, or if it stands for the end of a stack.
  [[nodiscard]] std::optional<StackNodeCopy> Node(std::uint32_t id) const;
  [[nodiscard]] Module ModuleOf(std::uint32_t id) const;

  // For each of these tables, ids are from 1 to less than the count.
  [[nodiscard]] std::uint32_t ThreadCount() const;
  [[nodiscard]] ThreadCopy Thread(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t AllowanceCount() const;
  [[nodiscard]] AllowanceCopy Allowance(std::uint32_t id) const;
  // Returns which of them, by their ids, are of blocks that the code has leak checkers ignore.
  [[nodiscard]] std::vector<bool> IgnoredAllowances() const;
  // Returns the memory that the code has declared to have pointers.
  [[nodiscard]] std::vector<KeptRange> RootRegions() const;
  // Whether there has been any block of a pool.
  [[nodiscard]] bool HasPools() const { return PoolAreaCount() != 0; }
  // Returns the name that the program's code has given a pool; empty if there is none.
  [[nodiscard]] std::string PoolName(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t MeasuringWindowCount() const;
  [[nodiscard]] MeasuringWindowCopy MeasuringWindow(std::uint32_t id) const;

  // How many such frees there have been. The table has room for the first kMaxEarlierFrees.
  [[nodiscard]] std::uint32_t EarlierFreeCount() const;
  // The frees in the table from index `from` on, without those that the agent has withdrawn.
  [[nodiscard]] std::vector<EarlierFreeCopy> EarlierFrees(std::uint32_t from) const;
  // What each stack has freed up to now. Empty unless kStacksOfFree was asked for.
  [[nodiscard]] std::vector<FreedByCopy> FreedBy() const;
  // What each stack has allocated up to now, freed or not. Empty unless kCountsAllocations was
  // asked for.
  [[nodiscard]] std::vector<FreedByCopy> AllocatedBy() const;
  [[nodiscard]] std::vector<FreeErrorCopy> FreeErrors() const;
  // The agent's own memory in the process, which contains no roots.
  [[nodiscard]] std::vector<OwnRange> OwnRanges() const;
  // Returns the parts of the agent's module that hold memory of the program, as the header has
  // them; what is not there is empty.
  [[nodiscard]] std::vector<KeptRange> KeptRanges() const;
  [[nodiscard]] EncodedPointers PointersEncoded() const;

  // The mappings that the program has made and not unmapped, and the stacks of its threads, sorted
  // by address. A range that moves to another owner during the call may be returned twice.
  [[nodiscard]] std::vector<MappingCopy> Mappings() const;
  // Everything that the program has ever committed, in bytes and calls.
  [[nodiscard]] Amount MappedInAll() const;

  // Everything that was allocated and freed up to now.
  [[nodiscard]] Totals CurrentTotals() const;

  [[nodiscard]] StackCounts CountStacks() const;

  // The blocks that threads are reallocating. During that, they are not among the live ones.
  [[nodiscard]] std::vector<ReallocatedCopy> ReallocatedBlocks() const;

  // The functions below read the live map. It is far larger than the tables, so it is mapped chunk
  // by chunk, and all of them fail if the address space is too small, or if the map claims more
  // than the process can have (linux/claimed_memory.h). Blocks are sorted by address. They throw
  // TimeIsUp. A block with live blocks of a pool in it is left out, unless something else is said.

  // The live blocks that were allocated in `window`.
  [[nodiscard]] Expected<std::vector<LiveBlock>> LiveBlocks(std::uint32_t window) const;

  // The live blocks that were allocated while a measuring window was open.
  [[nodiscard]] Expected<std::vector<LiveBlock>> LiveBlocks(
      const MeasuringWindowCopy& window) const;

  // Returns the sums of the live blocks of all windows, in any order. Takes a fraction of the time
  // and memory that copying the blocks does.
  [[nodiscard]] Expected<std::vector<LiveSum>> SumBlocks() const;

  // Returns those of `blocks`, which this reader has read before, that are live yet: they have not
  // been freed, nor has another taken their place. REQUIRES: they are sorted by address.
  [[nodiscard]] Expected<std::vector<LiveBlock>> StillLive(std::span<const LiveBlock> blocks) const;

  // Returns the live block that begins last, at or in front of `address` and no farther than
  // kFarthestBefore; nothing if there is none. REQUIRES: `address` has 48 bits.
  static constexpr std::uint64_t kFarthestBefore = 64 << 10;
  [[nodiscard]] Expected<std::optional<LiveBlock>> BlockBefore(std::uint64_t address) const;

  // Calls `use` with the live blocks of all windows, some thousands at a time, so that the memory
  // used does not depend on their number. Stops at the first error of `use`, and returns it.
  // With kLeftOut, chunks are visited in the place of the blocks of pools that are in them.
  using UseBlocks = std::function<Expected<void>(std::span<const LiveBlock> blocks)>;
  enum class Pools { kVisited, kLeftOut };
  [[nodiscard]] Expected<void> VisitBlocks(const UseBlocks& use,
                                           Pools pools = Pools::kVisited) const;

  // Releases the memory that reading has mapped. It is mapped again when it is read.
  void ReleasePages() const;

  // Returns the live blocks of all windows, and the pages of the heap. A page that only contains a
  // block to which glibc gave a mapping of its own is left out: once the block is freed, the page
  // may be mapped for any purpose.
  [[nodiscard]] Expected<HeapCopy> CopyHeap() const;

  // Returns about how many blocks are live.
  [[nodiscard]] std::size_t EstimateBlockCount() const;

 private:
  [[nodiscard]] std::vector<FreedByCopy> TalliesAt(std::uint64_t offset) const;
  // How many areas have had blocks of pools.
  [[nodiscard]] std::uint32_t PoolAreaCount() const;
  // Returns the numbers of the areas, by the addresses that they have, divided by kPoolAreaBytes.
  [[nodiscard]] std::unordered_map<std::uint64_t, std::uint32_t> PoolAreas() const;
  // Returns the address that a place of the live map stands for (common/pool_places.h).
  [[nodiscard]] std::uint64_t AddressAt(std::uint64_t place) const;
  // Returns the live blocks of pools, sorted by address, also those with blocks of another pool in
  // them.
  [[nodiscard]] Expected<std::vector<LiveBlock>> PoolBlocks() const;
  // Turns places of the live map into addresses, and leaves out the blocks that have live blocks of
  // a pool in them.
  [[nodiscard]] Expected<std::vector<LiveBlock>> Settled(std::vector<LiveBlock> blocks) const;
  RegionReader(const UniqueFd& fd, Mapping mapping);

  template <typename T>
  const T* At(std::uint64_t offset) const {
    return reinterpret_cast<const T*>(mapping_.data() + offset);
  }
  const RegionHeader& Header() const;
  std::string Text(TextRef ref) const;
  ContextRecord Context(std::uint32_t id) const;
  template <typename IsWanted>
  Expected<std::vector<LiveBlock>> FindBlocks(ContextRange range, std::uint64_t expected,
                                              IsWanted is_wanted) const;
  std::uint32_t ChunkAt(std::uint64_t directory_index) const;
  template <typename Use>
  Expected<void> ForEachChunk(Use use) const;
  template <typename Scan, typename Use>
  Expected<void> ForEachBlock(Scan& scan, Use use) const;
  enum class Pages { kNow, kKnown };  // that there are, or that there were when last asked
  template <typename Scan, typename Use>
  Expected<void> ReadMap(Scan& scan, Use use) const;
  template <typename Use>
  Expected<void> ReadChunk(std::uint64_t directory_index, Pages pages, Use use) const;
  template <typename Use>
  Expected<void> ForEachStretch(std::uint64_t directory_index, std::uint32_t chunk, Use use,
                                Pages pages = Pages::kNow) const;

  const UniqueFd* fd_;
  Mapping mapping_;
  std::shared_ptr<LiveChunks> chunks_;
  std::shared_ptr<WindowContexts> contexts_;
  std::shared_ptr<SeenMemory> seen_;
  int pid_ = 0;
};

}  // namespace leakgate
