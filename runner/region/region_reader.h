// Reads a region, while the test process runs and after it has ended.
//
// The process may write anything into the region at any time, so its content is hostile input:
// each value is copied once, the copy is checked, and only the copy is used. A value that is out
// of bounds reads as empty. Any thread may read.
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

// The types below are copies of the region's records. An id of 0, or a tid of 0, means that there
// is no such record.

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
  // The peak of the whole process. For each thread it may be too low by less than kPeakStepBytes.
  std::uint64_t peak_live_bytes = 0;
  std::uint64_t begin_time_ns = 0;  // by CLOCK_MONOTONIC
  std::uint64_t end_time_ns = 0;    // set once the window is closed
};

// How the agent has walked stacks.
struct StackCounts {
  std::uint64_t walked = 0;
  std::uint64_t unprovable = 0;  // how many of the walked stacks
  std::uint64_t frames_walked = 0;
  std::uint64_t rules_made = 0;  // for how many of these frames no rule was cached
};

struct ThreadCopy {
  int tid = 0;
  std::uint32_t birth_window = 0;
  std::uint32_t parent = 0;        // the thread that created it; 0: not known
  std::uint32_t origin_stack = 0;  // the stack that created it; 0: not known
  std::uint64_t pointer = 0;
  bool has_ended = false;
  std::string name;  // set once the thread has ended
};

// A block that was freed in another window than it was allocated in.
struct EarlierFreeCopy {
  std::uint32_t stack = 0;
  std::uint32_t window = 0;  // the window in which it was freed
  std::uint64_t size_bytes = 0;
};

// All blocks that one stack has freed.
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
  std::uint32_t allocation_stack = 0;                        // set for a mismatched free only
  AllocationKind allocation_kind = AllocationKind::kMalloc;  // likewise
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
};

// An allowance in the program's code.
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

// A measuring window in the program's code.
struct MeasuringWindowCopy {
  std::uint32_t id = 0;
  WindowState state = WindowState::kUnused;
  std::uint32_t window = 0;  // the window that was current when this one was opened
  std::uint32_t thread = 0;  // the only thread that it measures; 0: it measures all
  std::string name;
  std::string file;
  int line = 0;
  std::uint32_t first_phase = 0;
  std::uint32_t end_phase = 0;  // the phase after its last one; UINT32_MAX while it is open
};

// One frame in the tree of stacks.
struct StackNodeCopy {
  std::uint64_t pc = 0;
  std::uint32_t parent =
      0;  // the caller's node; below kStackRootCount, it tells how the stack ends
  std::uint32_t module = 0;
};

// A recorded call stack. The innermost frame is first.
struct RawStack {
  struct Frame {
    std::uint64_t pc = 0;
    std::uint32_t module = 0;
  };
  std::vector<Frame> frames;
  UnwindEnd end = UnwindEnd::kOutermost;
};

// The heap at one moment, sorted by address.
struct HeapCopy {
  std::vector<LiveBlock> blocks;  // all live blocks
  // The pages (of kHeapPageBytes) in which a block begins, or has begun. They belong to an
  // allocator.
  std::vector<std::uint64_t> pages;
};

inline constexpr std::uint64_t kHeapPageBytes = 4096;

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
  [[nodiscard]] std::uint32_t Generation() const;   // counts the execs of the PID, from 1
  [[nodiscard]] std::uint32_t StackDepth() const;   // the most frames that a stack has
  [[nodiscard]] std::uint32_t StackEvents() const;  // bits for the events whose stacks are recorded
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
  [[nodiscard]] RawStack Stack(std::uint32_t id) const;
  // Returns nullopt if there is no such node, or if it stands for the end of a stack.
  [[nodiscard]] std::optional<StackNodeCopy> Node(std::uint32_t id) const;
  [[nodiscard]] Module ModuleOf(std::uint32_t id) const;

  // For each of these tables, ids are from 1 to less than the count.
  [[nodiscard]] std::uint32_t ThreadCount() const;
  [[nodiscard]] ThreadCopy Thread(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t AllowanceCount() const;
  [[nodiscard]] AllowanceCopy Allowance(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t MeasuringWindowCount() const;
  [[nodiscard]] MeasuringWindowCopy MeasuringWindow(std::uint32_t id) const;

  // How many such frees there have been. The table has room for the first kMaxEarlierFrees.
  [[nodiscard]] std::uint32_t EarlierFreeCount() const;
  // The frees in the table from index `from` on, without those that the agent has withdrawn.
  [[nodiscard]] std::vector<EarlierFreeCopy> EarlierFrees(std::uint32_t from) const;
  // What each stack has freed up to now. Empty unless kStacksOfFree was asked for.
  [[nodiscard]] std::vector<FreedByCopy> FreedBy() const;
  [[nodiscard]] std::vector<FreeErrorCopy> FreeErrors() const;
  // The agent's own memory in the process, which contains no roots.
  [[nodiscard]] std::vector<OwnRange> OwnRanges() const;

  // What the program has mapped itself and not unmapped, and the stacks of its threads, sorted by
  // address. A range that changes its owner meanwhile may be returned twice.
  [[nodiscard]] std::vector<MappingCopy> Mappings() const;
  // Everything that the program has ever committed, in bytes and calls.
  [[nodiscard]] Amount MappedInAll() const;

  // Everything that was allocated and freed up to now.
  [[nodiscard]] Totals CurrentTotals() const;

  [[nodiscard]] StackCounts CountStacks() const;

  // The functions below read the live map. It is far larger than the tables, so it is mapped chunk
  // by chunk, and all of them fail if the address space is too small. Blocks are sorted by address.

  // The live blocks that were allocated in `window`.
  [[nodiscard]] Expected<std::vector<LiveBlock>> LiveBlocks(std::uint32_t window) const;

  // The live blocks that were allocated while a measuring window was open.
  [[nodiscard]] Expected<std::vector<LiveBlock>> LiveBlocks(
      const MeasuringWindowCopy& window) const;

  // Calls `use` with the live blocks of all windows, some thousands at a time, so that the memory
  // used does not depend on their number. Stops at the first error of `use`, and returns it.
  using UseBlocks = std::function<Expected<void>(std::span<const LiveBlock> blocks)>;
  [[nodiscard]] Expected<void> VisitBlocks(const UseBlocks& use) const;

  // The live blocks of all windows, and the pages of the heap. A page that only holds a block to
  // which glibc gave a mapping of its own is left out: once the block is freed, anybody may map
  // the page.
  [[nodiscard]] Expected<HeapCopy> CopyHeap() const;

 private:
  RegionReader(const UniqueFd& fd, Mapping mapping) : fd_(&fd), mapping_(std::move(mapping)) {}

  template <typename T>
  const T* At(std::uint64_t offset) const {
    return reinterpret_cast<const T*>(mapping_.data() + offset);
  }
  const RegionHeader& Header() const;
  std::string Text(TextRef ref) const;
  std::size_t EstimateBlockCount() const;
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
