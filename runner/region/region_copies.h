// The contents of a region, each value copied out of it and checked. An id of 0, or a tid of 0,
// means that there is no such record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/allocation_kind.h"
#include "common/region_layout.h"
#include "runner/region/amount.h"

namespace leakgate {

struct LiveBlock {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  AllocationKind kind = AllocationKind::kMalloc;
  bool may_be_chunk = false;  // pools have had blocks in it
  std::uint16_t pool = 0;     // which has given it out; 0: none
  // Where the block was allocated, by ids of the same region:
  std::uint32_t stack = 0;
  std::uint32_t window = 0;
  std::uint32_t thread = 0;
  std::uint32_t allowance = 0;  // the allowance of the program's code; 0: none
  // Stands for the measuring windows that were open; 0: none was.
  std::uint32_t phase : 31 = 0;
  // 1: made by a local static variable's initialiser, begun in `window`. Of the same type, since
  // Windows gives each type of bit-fields a word of its own.
  std::uint32_t is_static : 1 = 0;
};
static_assert(sizeof(LiveBlock) == 40);  // there are millions

// The live blocks of one call stack that were allocated in one window, by one thread, under one
// allowance.
struct LiveSum {
  std::uint32_t stack = 0;
  std::uint32_t window = 0;
  std::uint32_t allowance = 0;
  Amount amount;
};

// A mapping that the program has made itself, or a thread's stack.
struct MappingCopy {
  std::uint64_t address = 0;  // 0: the stack of a thread that has not begun
  std::uint64_t size_bytes = 0;
  AllocationKind kind = AllocationKind::kMapped;
  unsigned protection = 0;  // the PROT_ bits when mapped or first committed; 0: only reserved
  // The call that mapped or committed it, by ids of the same region:
  std::uint32_t stack = 0;
  std::uint32_t window = 0;
  std::uint32_t thread = 0;
  std::uint32_t allowance = 0;
  std::uint64_t time_ns = 0;  // when, by CLOCK_MONOTONIC
};

[[nodiscard]] inline bool IsReserved(const MappingCopy& mapping) { return mapping.protection == 0; }

// A file that the test process has mapped. Addresses of frames are symbolised in it.
struct Module {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;  // the run-time address minus the address in the file
  std::string path;
  std::string build_id;  // in hexadecimal; empty if the file has none
};

// Returns whether a module with this path is the agent.
[[nodiscard]] inline bool IsAgentFile(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "libleakgate_agent.so" || name == "leakgate_agent64.dll";
}

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

// A block that a thread is reallocating. It is in its old place, or already in a new one that only
// the thread knows.
struct ReallocatedCopy {
  int tid = 0;
  std::uint64_t address = 0;  // of the old place
  std::uint64_t size_bytes = 0;
};

// A block that was freed in another window than it was allocated in.
struct EarlierFreeCopy {
  std::uint32_t stack = 0;
  std::uint32_t window = 0;  // the window in which it was freed
  std::uint64_t size_bytes = 0;
};

// All blocks that one stack has freed, or allocated.
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
      0;  // the caller's node; below kStackRootCount, it stands for how the stack ends
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
  std::vector<LiveBlock> blocks;  // all live blocks that count
  // Those that do not: blocks of pools are in them. They may be blocks of a pool themselves.
  std::vector<LiveBlock> chunks{};
  // The pages (of kHeapPageBytes) in which a block begins, or has begun. They belong to an
  // allocator.
  std::vector<std::uint64_t> pages;
};

inline constexpr std::uint64_t kHeapPageBytes = 4096;

}  // namespace leakgate
