// Reads a region, while the test process runs and after it has gone.
//
// The process may write anything into the region at any time, so it is hostile
// input: each value is copied once, checked, and only the copy used. What is
// out of bounds reads as empty. Any thread may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/allocation_kind.h"
#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/region/amount.h"
#include "runner/region/live_block.h"
#include "runner/region/module.h"

namespace leakgate {

// A window's record, copied.
struct WindowCopy {
  std::uint32_t id = 0;
  WindowKind kind = WindowKind::kProgram;
  WindowState state = WindowState::kUnused;
  TestResult test_result = TestResult::kUnknown;
  std::uint32_t parent = 0;
  int iteration = 1;
  int line = 0;
  std::string name;
  std::string file;
  Totals begin{};
  Totals end{};
  std::uint64_t peak_live_bytes =
      0;                            // of the process; too low by less than kPeakStepBytes a thread
  std::uint64_t begin_time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t end_time_ns = 0;    // once closed
};

// How the stacks of a region were told, as counts.
struct StackCounts {
  std::uint64_t walked = 0;
  std::uint64_t unprovable = 0;  // of those
  std::uint64_t frames_walked = 0;
  std::uint64_t rules_made = 0;  // of those: without a cached rule
};

// A thread's record, copied. Not there: tid is 0.
struct ThreadCopy {
  int tid = 0;
  std::uint32_t birth_window = 0;
  std::uint32_t parent = 0;        // the thread that created it; 0: not known
  std::uint32_t origin_stack = 0;  // where; 0: not known
  std::uint64_t pointer = 0;
  bool has_ended = false;
  std::string name;  // once it has ended
};

// A block that was freed in another window than it was allocated in.
struct EarlierFreeCopy {
  std::uint32_t stack = 0;
  std::uint32_t window = 0;  // that it was freed in
  std::uint64_t size_bytes = 0;
};

// What one stack has freed, of all blocks.
struct FreedByCopy {
  std::uint32_t stack = 0;
  Amount amount;
};

struct FreeErrorCopy {
  FreeErrorKind kind = FreeErrorKind::kMismatched;
  FreeKind free_kind = FreeKind::kFree;
  std::uint32_t window = 0;
  std::uint32_t thread = 0;
  std::uint32_t free_stack = 0;
  std::uint32_t allocation_stack = 0;  // of a mismatched free, as is the kind
  AllocationKind allocation_kind = AllocationKind::kMalloc;
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
};

// An allowance that the program's code gave, copied. Not there: id is 0.
struct AllowanceCopy {
  std::uint32_t id = 0;
  AllowanceKind kind = AllowanceKind::kScoped;
  std::uint32_t window = 0;
  std::uint32_t thread = 0;
  std::string reason;
  std::string file;
  int line = 0;
  std::int64_t bytes = -1;   // -1: no limit
  std::int64_t blocks = -1;  // likewise
};

// A measuring window of the program's code, copied. Not there: id is 0.
struct MeasuringWindowCopy {
  std::uint32_t id = 0;
  WindowState state = WindowState::kUnused;
  std::uint32_t window = 0;  // current when it was opened
  std::uint32_t thread = 0;  // the only one that it measures; 0: all
  std::string name;
  std::string file;
  int line = 0;
  std::uint32_t first_phase = 0;
  std::uint32_t end_phase = 0;  // of one that is open: there is none after it yet
};

// One frame of the tree of stacks.
struct StackNodeCopy {
  std::uint64_t pc = 0;
  std::uint32_t parent = 0;  // the caller's node; below kStackRootCount: how the stack ends
  std::uint32_t module = 0;
};

// A call stack as recorded, innermost first.
struct RawStack {
  struct Frame {
    std::uint64_t pc = 0;
    std::uint32_t module = 0;
  };
  std::vector<Frame> frames;
  UnwindEnd end = UnwindEnd::kOutermost;
};

// The heap at one moment.
struct HeapCopy {
  std::vector<LiveBlock> blocks;  // all that are live, by address
  // Pages of kHeapPageBytes where blocks begin, or have begun: an allocator's own,
  // by address.
  std::vector<std::uint64_t> pages;
};

inline constexpr std::uint64_t kHeapPageBytes = 4096;

class RegionReader {
 public:
  // Maps the tables of the region behind `fd`, which must outlive the reader.
  // Fails if it is none, or one of another version.
  [[nodiscard]] static Expected<RegionReader> Attach(const UniqueFd& fd);

  // False: the process has written over what must be there, and nothing else can be relied
  // on either. True is no proof.
  [[nodiscard]] bool IsWhole() const;

  // As it was when the reader attached: true in the runner that made the region, which did
  // so before the process had it; elsewhere a claim of the process's.
  int Pid() const { return pid_; }
  [[nodiscard]] std::uint32_t Generation() const;   // counts the execs of the PID, from 1
  [[nodiscard]] std::uint32_t StackDepth() const;   // where stacks are cut
  [[nodiscard]] std::uint32_t StackEvents() const;  // bits: whose stacks are recorded
  [[nodiscard]] AgentState State() const;
  [[nodiscard]] AgentFailure Failure() const;
  [[nodiscard]] BoundarySource Boundaries() const;
  [[nodiscard]] ProgramEnd End() const;
  // When tracing was enabled in the running process (CLOCK_REALTIME), before which nothing
  // is known; 0 if it was traced from its first instruction.
  [[nodiscard]] std::uint64_t AttachedAtNs() const;
  [[nodiscard]] std::uint32_t WindowCount() const;  // ids from 1 to less than this
  [[nodiscard]] std::uint32_t CurrentWindow() const;
  [[nodiscard]] std::uint64_t Drops(DropReason reason) const;
  [[nodiscard]] std::uint64_t StackEnds(UnwindEnd end) const;

  [[nodiscard]] WindowCopy Window(std::uint32_t id) const;
  [[nodiscard]] RawStack Stack(std::uint32_t id) const;
  // None: there is no such node, or it is no frame.
  [[nodiscard]] std::optional<StackNodeCopy> Node(std::uint32_t id) const;
  [[nodiscard]] Module ModuleOf(std::uint32_t id) const;

  // Ids from 1 to less than the count.
  [[nodiscard]] std::uint32_t ThreadCount() const;
  [[nodiscard]] ThreadCopy Thread(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t AllowanceCount() const;
  [[nodiscard]] AllowanceCopy Allowance(std::uint32_t id) const;

  [[nodiscard]] std::uint32_t MeasuringWindowCount() const;
  [[nodiscard]] MeasuringWindowCopy MeasuringWindow(std::uint32_t id) const;

  // How many there have ever been; the table holds the first kMaxEarlierFrees.
  [[nodiscard]] std::uint32_t EarlierFreeCount() const;
  // Those in the table from an index on, but for any that were taken back.
  [[nodiscard]] std::vector<EarlierFreeCopy> EarlierFrees(std::uint32_t from) const;
  // Who has freed what up to now, by stack; none unless kStacksOfFree was asked for.
  [[nodiscard]] std::vector<FreedByCopy> FreedBy() const;
  [[nodiscard]] std::vector<FreeErrorCopy> FreeErrors() const;
  // Memory of the agent's own in the process, which holds no roots.
  [[nodiscard]] std::vector<OwnRange> OwnRanges() const;

  // What the program has mapped itself and not unmapped, and the stacks of its threads;
  // by address. A range that changes hands meanwhile may be told of twice.
  [[nodiscard]] std::vector<MappingCopy> Mappings() const;
  // All that it ever committed, as bytes and calls.
  [[nodiscard]] Amount MappedInAll() const;

  // Everything allocated and freed up to now.
  [[nodiscard]] Totals CurrentTotals() const;

  [[nodiscard]] StackCounts CountStacks() const;

  // The live blocks that were allocated in `window`, by address. The live map is
  // far larger than the tables, so it is mapped chunk by chunk: fails when the
  // address space is short.
  [[nodiscard]] Expected<std::vector<LiveBlock>> LiveBlocks(std::uint32_t window) const;

  // The same, allocated while a measuring window was open.
  [[nodiscard]] Expected<std::vector<LiveBlock>> LiveBlocks(
      const MeasuringWindowCopy& window) const;

  // The live blocks of all windows, by address, some thousands at a time: in memory
  // that does not grow with them. Ends with the first error that `use` returns. Fails
  // likewise.
  using UseBlocks = std::function<Expected<void>(std::span<const LiveBlock> blocks)>;
  [[nodiscard]] Expected<void> VisitBlocks(const UseBlocks& use) const;

  // The same all at once, and where the heap is. Fails likewise. A block of
  // glibc's that has a mapping of its own makes no page the allocator's: the
  // addresses are anybody's once it is freed.
  [[nodiscard]] Expected<HeapCopy> CopyHeap() const;

 private:
  RegionReader(const UniqueFd& fd, Mapping mapping) : fd_(&fd), mapping_(std::move(mapping)) {}

  template <typename T>
  const T* At(std::uint64_t offset) const {
    return reinterpret_cast<const T*>(mapping_.data() + offset);
  }
  const RegionHeader& Header() const;
  std::string Text(TextRef ref) const;
  std::size_t LikelyBlocks() const;
  ContextRecord Context(std::uint32_t id) const;
  template <typename IsWanted>
  Expected<std::vector<LiveBlock>> FindBlocks(IsWanted is_wanted) const;
  template <typename Use>
  Expected<void> ForEachChunk(Use use) const;
  template <typename Use>
  Expected<void> ForEachStretch(std::uint64_t directory_index, std::uint32_t chunk, Use use) const;

  const UniqueFd* fd_;
  Mapping mapping_;
  int pid_ = 0;
};

}  // namespace leakgate
