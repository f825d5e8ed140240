// What a snapshot file holds besides blocks. docs/internals/snapshot-format.md describes how each
// value is written.
//
// Ids of windows and threads are the region's: windows are numbered in the order in
// which they were opened. Stack ids and module ids are the file's own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/allocation_kind.h"
#include "common/region_layout.h"
#include "runner/region/region_copies.h"

namespace leakgate {

// What the process did while its blocks were copied. If it ran, they are of slightly different
// moments.
enum class SnapshotMoment : std::uint32_t {
  kRunning = 1,  // at least one of its threads ran
  kStopped = 2,  // none of its threads ran
  kEnded = 3,    // it had ended before
};

// What is known before the blocks are copied.
struct SnapshotFacts {
  int pid = 0;
  std::uint32_t generation = 1;  // counts the execs of the PID, from 1
  SnapshotMoment moment = SnapshotMoment::kRunning;
  std::uint32_t stack_depth = 0;  // the most frames that are recorded of a stack
  std::string image{};            // the file that the process executes
  std::vector<std::string> command_line{};
  std::string occasion{};  // when it was taken: "begin of HttpTest.KeepAlive"; may be empty

  std::uint64_t taken_unix_ns = 0;          // since 1970, UTC
  std::uint64_t taken_ns = 0;               // CLOCK_MONOTONIC, as of windows
  std::uint64_t tracing_begin_ns = 0;       // CLOCK_MONOTONIC
  std::vector<std::string> not_recorded{};  // sentences on what is known to be missing

  std::string host{};
  std::string boot_id{};  // differs after each start of the machine
  std::string kernel{};   // "Linux 6.1.0-18-amd64 x86_64"
  std::string leakgate_version{};
  std::uint32_t stack_events = kDefaultStackEvents;  // bits of the events with recorded stacks
  // The name by which the program was called: a link to its image, or the image.
  std::string name{};
};

// What is known after the blocks have been copied. The process may have run meanwhile.
struct SnapshotClosing {
  std::uint64_t blocks = 0;  // in the file
  std::uint64_t bytes = 0;   // of these blocks
  std::uint64_t mappings = 0;
  std::uint64_t finished_ns = 0;     // CLOCK_MONOTONIC
  Totals since_begin{};              // of tracing
  std::uint32_t current_window = 0;  // the innermost open one; its record is in the file
  std::uint32_t window_count = 0;    // of all since tracing began, and one for id 0
  std::uint32_t thread_count = 0;    // of all since tracing began, and one for id 0
  AgentState agent_state = AgentState::kAbsent;
  AgentFailure agent_failure = AgentFailure::kNone;
  ProgramEnd program_end = ProgramEnd::kUnseen;
  BoundarySource boundaries = BoundarySource::kNone;
  std::array<std::uint64_t, kDropReasonCount> drops{};      // by DropReason
  std::array<std::uint64_t, kUnwindEndCount> stack_ends{};  // of distinct stacks, by UnwindEnd
};

// A mapped file. If it has no build-id, its size and time tell whether a file that is found
// later is the same.
struct SnapshotModule {
  std::uint32_t id = 0;
  Module module{};
  std::uint64_t file_bytes = 0;        // 0: not known
  std::uint64_t file_modified_ns = 0;  // since 1970; 0: not known
};

struct SnapshotWindow {
  std::uint32_t id = 0;
  WindowKind kind = WindowKind::kProgram;
  WindowState state = WindowState::kUnused;
  std::uint32_t parent = 0;  // 0: none, or not known
  std::uint32_t iteration = 1;
  TestResult test_result = TestResult::kUnknown;
  std::uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t end_ns = 0;    // 0: still open
  std::uint32_t line = 0;
  std::string name{};
  std::string file{};
};

struct SnapshotThread {
  std::uint32_t id = 0;
  int tid = 0;
  std::uint32_t parent = 0;        // the thread that created it; 0: not known
  std::uint32_t origin_stack = 0;  // of that creation; 0: not known
  std::uint32_t birth_window = 0;  // 0: not known
  bool has_ended = false;
  std::string name{};  // may be empty
};

// A frame in the tree of stacks. The id of a stack is that of its innermost frame. The first
// kStackRootCount ids are not frames: they say how a stack ends (UnwindEnd).
struct SnapshotNode {
  std::uint64_t pc = 0;
  std::uint32_t parent = 0;  // less than the frame's own id
  std::uint32_t module = 0;  // 0: in no known module

  friend bool operator==(const SnapshotNode&, const SnapshotNode&) = default;
};

// How much of one mapping takes memory. A page that is neither resident nor swapped out has not
// been touched, or was returned to the kernel (MADV_DONTNEED), or belongs to a file and is not
// mapped in.
struct MappingPages {
  bool are_known = false;                // if not, the rest means nothing
  std::uint64_t resident_bytes = 0;      // in memory
  std::uint64_t swapped_bytes = 0;       // swapped out
  std::uint64_t lazily_freed_bytes = 0;  // resident until the kernel needs memory (MADV_FREE)
};

// How the kernel was asked for pages.
enum class PageSource : std::uint32_t {
  kNone = 0,     // it was not, or an earlier leakgate has written the file
  kScan = 1,     // by PAGEMAP_SCAN
  kPageMap = 2,  // page by page: a page of zeros that was only read counts as resident
};

// What is known of the pages of all mappings.
struct SnapshotPages {
  PageSource source = PageSource::kNone;
  // Why they are not known; empty if they are, or if they were not asked for.
  std::string problem{};
  // Also lazily freed, but the kernel does not say in which of several adjacent mappings.
  std::uint64_t unassigned_lazily_freed_bytes = 0;
};

// A range of addresses that the program has mapped itself, or a thread's stack.
struct SnapshotMapping {
  std::uint64_t address = 0;  // 0: the stack of a thread that has not begun yet
  std::uint64_t bytes = 0;
  AllocationKind kind = AllocationKind::kMapped;
  std::uint32_t protection = 0;  // PROT_ bits; 0: only reserved
  std::uint32_t stack = 0;       // the call stack that mapped or committed it
  std::uint32_t window = 0;
  std::uint32_t thread = 0;
  std::uint64_t mapped_ns = 0;  // CLOCK_MONOTONIC; 0: not known
  MappingPages pages{};
};

// What one call stack has freed since tracing began, of blocks that were recorded.
struct SnapshotFrees {
  std::uint32_t stack = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// What one call stack has allocated since tracing began, freed or not.
struct SnapshotAllocations {
  std::uint32_t stack = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// One function at an address, as it was found where the files of the modules were.
struct KnownFrame {
  std::string function{};
  std::string file{};
  std::uint32_t line = 0;
  bool is_inlined = false;
  std::string called_function{};
  bool calls_through_pointer = false;
  std::uint32_t wrapper = 0;  // Wrapper
};

// The functions at a return address, the innermost first. There may be none to show.
struct SnapshotSymbols {
  std::uint32_t module = 0;
  std::uint64_t pc = 0;
  std::vector<KnownFrame> frames{};
};

// Why functions of a module could not be looked up.
struct SnapshotSymbolProblem {
  std::uint32_t module = 0;
  std::string problem{};
};

// Returns whether two snapshots are of the same process, executing the same program.
[[nodiscard]] inline bool IsSameProcess(const SnapshotFacts& a, const SnapshotFacts& b) {
  return a.pid == b.pid && a.generation == b.generation && a.boot_id == b.boot_id &&
         a.host == b.host && a.tracing_begin_ns == b.tracing_begin_ns && a.tracing_begin_ns != 0;
}

}  // namespace leakgate
