// Reads a region, while the test process runs and after it has gone.
//
// The process may write anything into the region at any time, so it is hostile
// input: each value is copied once, checked, and only the copy used. What is
// out of bounds reads as empty. Any thread may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/allocation_kind.h"
#include "common/region_layout.h"
#include "runner/snapshot/live_block.h"
#include "runner/snapshot/module.h"
#include "runner/util/expected.h"
#include "runner/util/linux/mapping.h"

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

  [[nodiscard]] AgentState State() const;
  [[nodiscard]] AgentFailure Failure() const;
  [[nodiscard]] BoundarySource Boundaries() const;
  [[nodiscard]] ProgramEnd End() const;
  [[nodiscard]] std::uint32_t WindowCount() const;  // ids from 1 to less than this
  [[nodiscard]] std::uint32_t CurrentWindow() const;
  [[nodiscard]] std::uint64_t Drops(DropReason reason) const;
  [[nodiscard]] std::uint64_t StackEnds(UnwindEnd end) const;

  [[nodiscard]] WindowCopy Window(std::uint32_t id) const;
  [[nodiscard]] RawStack Stack(std::uint32_t id) const;
  [[nodiscard]] Module ModuleOf(std::uint32_t id) const;

  // Ids from 1 to less than the count.
  [[nodiscard]] std::uint32_t ThreadCount() const;
  [[nodiscard]] ThreadCopy Thread(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t AllowanceCount() const;
  [[nodiscard]] AllowanceCopy Allowance(std::uint32_t id) const;

  // How many there have ever been; the table holds the first kMaxEarlierFrees.
  [[nodiscard]] std::uint32_t EarlierFreeCount() const;
  // Those in the table from an index on, but for any that were taken back.
  [[nodiscard]] std::vector<EarlierFreeCopy> EarlierFrees(std::uint32_t from) const;
  [[nodiscard]] std::vector<FreeErrorCopy> FreeErrors() const;
  // Memory of the agent's own in the process, which holds no roots.
  [[nodiscard]] std::vector<OwnRange> OwnRanges() const;

  // Everything allocated and freed up to now.
  [[nodiscard]] Totals CurrentTotals() const;

  [[nodiscard]] StackCounts CountStacks() const;

  // The live blocks that were allocated in `window`, by address. The live map is
  // far larger than the tables, so it is mapped chunk by chunk: fails when the
  // address space is short.
  [[nodiscard]] Expected<std::vector<LiveBlock>> LiveBlocks(std::uint32_t window) const;

  // The same of all windows, and where the heap is. Fails likewise. A block of
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
  template <typename Use>
  Expected<void> ForEachChunk(Use use) const;
  template <typename Use>
  Expected<void> ForEachStretch(std::uint64_t directory_index, std::uint32_t chunk, Use use) const;

  const UniqueFd* fd_;
  Mapping mapping_;
};

}  // namespace leakgate
