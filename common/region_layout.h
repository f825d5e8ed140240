// The region: the memory that the test process and the runner share.
//
// The runner creates it as a memfd, in its full size and sealed, before the process is resumed. The
// agent fills it. The runner reads it at any moment, also after the process has died. It is sparse:
// only the parts that are touched cost memory. It contains no pointers, since the two processes map
// it at different addresses.
//
// Threat model for the runner: the process under test may write anything here
// at any time. Copy once, check the copy, use the copy.
//
//   header | mailbox | windows | threads | shards | contexts | modules | text |
//   allowances | earlier frees | free errors | own ranges | mappings |
//   measuring windows | pools | pools' areas | stacks | freed by | allocated by | event buffers'
//   records | chunk directory | chunks of the live map ... | event buffers
#pragma once

#include <atomic>
#include <cstdint>

#include "common/drop_reason.h"
#include "common/event_stream.h"
#include "common/mapping_record.h"
#include "common/pool_places.h"
#include "common/stack_event.h"
#include "common/system.h"
#include "common/unwind_end.h"

#include LEAKGATE_COMMON(region_limits)

namespace leakgate {

inline constexpr std::uint64_t kRegionMagic = 0x6574'6167'6b61'656cULL;  // "leakgate"
// Version 20 has pools. Version 13 has addresses of 48 bits, and tables that begin at multiples of
// 64 KiB. Version 12 has allocations by stack, and counts temporary blocks. Version 11 has buffers
// of events. Version 10 tells blocks of static variables' initialisers. Version 9 has snapshots on
// request, through the mailbox. Version 8 has stack_events, and frees by stack. In version 7,
// tracing may begin and end while the process runs (attached_at_ns, kDetached), and there are
// mappings and measuring windows.
inline constexpr std::uint32_t kLayoutVersion = 20;

// How many frames of a stack are recorded: the agent has room for kMaxStackDepth, and the runner
// asks for kDefaultStackDepth unless the user gives another number.
inline constexpr std::uint32_t kMaxStackDepth = 1024;
inline constexpr std::uint32_t kDefaultStackDepth = 256;

// How far the agent has come. A region that never gets to kTracing was not traced.
enum class AgentState : std::uint32_t { kAbsent = 0, kTracing = 1, kFailed = 2 };

// Why the agent did not start to trace.
enum class AgentFailure : std::uint32_t {
  kNone = 0,
  kNoMemory = 1,          // the region or the agent's tables could not be mapped
  kCanaryUnseen = 2,      // a block allocated as a trial was not recorded
  kEntriesNotHooked = 3,  // the program's own allocator could not be led to the agent
};

// How the agent learns where tests begin and end.
enum class BoundarySource : std::uint32_t { kNone = 0, kStream = 1, kListener = 2 };

// How the program ended, as far as the agent could see from inside.
enum class ProgramEnd : std::uint32_t {
  kUnseen = 0,     // killed, replaced by exec, or ended by a bare system call
  kExit = 1,       // exit handlers ran
  kImmediate = 2,  // _exit, _Exit or quick_exit
  kDetached = 3,   // it has not ended: tracing was disabled while it ran
  // Exit handlers ran, but nobody asked before what they were about to destroy. Windows only.
  kUnannounced = 4,
};

// kProcess is the runner's name for the program window of a child that a budget file names. It
// stands in no region.
enum class WindowKind : std::uint32_t { kProgram = 1, kSuite = 2, kTest = 3, kProcess = 4 };
enum class WindowState : std::uint32_t { kUnused = 0, kOpen = 1, kClosed = 2 };

// kNotPassed means failed or skipped: GoogleTest's stream of events does not distinguish them.
enum class TestResult : std::uint32_t {
  kUnknown = 0,
  kPassed = 1,
  kFailed = 2,
  kSkipped = 3,
  kNotPassed = 4,
};

// What the agent asks the runner (Mailbox::question) and waits for.
enum class Question : std::uint32_t {
  kJudge = 0,          // a window has ended: is it within budget?
  kTestBegins = 1,     // asked only with kAskAtTestBegin
  kIterationEnds = 2,  // all tear-down is done; asked only with kAskAtIterationEnd
  kProcessEnds = 3,    // main has returned, or exit is called; asked only with kAskAtProcessEnd
  kMeasure = 4,        // what does a measuring window have outstanding now?
  kMeasureAtEnd = 5,   // the same at its end
  kTakeSnapshot = 6,   // take a snapshot of the process now; the answer is its size
  kReadSnapshot = 7,   // give part `subject` of the last snapshot: see below
  kDestructorsHaveRun = 8,  // exit handlers have run; asked only with kAskAtProcessEnd
  kOperatorsProbed = 9      // asked only with kAskToProbe; the text is ProbedObjects
};

// The agent writes the snapshot files that the program's code asks for. The runner is not given a
// path, so it cannot be made to write to a place that only the runner may write to. It takes the
// snapshot into its own memory, and the agent reads that in order, in parts of
// Mailbox::kTextCapacity bytes each, of which the last one may be shorter. The runner forgets the
// snapshot after the last part.

// What else the agent is to ask the runner: bits of RegionHeader::asks.
inline constexpr std::uint32_t kAskAtTestBegin = 1;
inline constexpr std::uint32_t kAskAtIterationEnd = 2;
inline constexpr std::uint32_t kAskAtTestEnd = 4;   // also if nothing is outstanding
inline constexpr std::uint32_t kAskAtSuiteEnd = 8;  // likewise
// These are set before the process gets the region.
inline constexpr std::uint32_t kAskAtProcessEnd = 16;
inline constexpr std::uint32_t kHasNoTests = 32;  // a child that a budget file names: one window
// If a suite has left any descriptors open: also ask at its end.
inline constexpr std::uint32_t kAskAtNewDescriptors = 64;
inline constexpr std::uint32_t kAskToPlant = 128;     // leave kPlantedBytes behind in one test
inline constexpr std::uint32_t kAskNoVerdicts = 256;  // no kJudge but by the bits above
// Instead of calling main, try out operators new and delete, and then end (operator_probe.h).
inline constexpr std::uint32_t kAskToProbe = 512;

// What `leakgate run --plant-leak` leaves behind, so that users see their gate fail.
inline constexpr std::uint64_t kPlantedBytes = 1234;

// A string in the region's text: offset and length in bytes.
struct TextRef {
  std::uint32_t offset;
  std::uint32_t length;
};
static_assert(sizeof(TextRef) == 8);

// Everything allocated and freed since tracing began, at one moment.
struct Totals {
  std::uint64_t allocated_bytes;
  std::uint64_t allocated_blocks;
  std::uint64_t freed_bytes;
  std::uint64_t freed_blocks;
  // Those of the freed blocks that were freed by the thread that had allocated them, in the same
  // window, before that thread allocated again. Only counted if the runner asks for it.
  std::uint64_t temporary_bytes;
  std::uint64_t temporary_blocks;
};
static_assert(sizeof(Totals) == 48);

// Memory of the agent's module in which it keeps memory of the program. Pointers there count.
struct KeptRange {
  std::uint64_t begin;  // both 0: none
  std::uint64_t end;
};
inline constexpr std::uint32_t kKeptRanges = 4;
inline constexpr std::uint32_t kKeptSignalStacks = 2;  // which of them is an array of SignalStack

// Where a thread has its signal stack; begin 0: the record is free.
struct SignalStack {
  std::uint64_t begin;
  std::uint64_t bytes;
};

// What Windows' EncodePointer makes of the addresses 0 and 1: it flips some bits of a pointer, and
// rotates them all. Both are the same if the system has no such function.
struct EncodedPointers {
  std::uint64_t of_zero;
  std::uint64_t of_one;
};
static_assert(sizeof(EncodedPointers) == 16);

struct alignas(64) RegionHeader {
  // Written by the runner, before launch.
  std::uint64_t magic;
  std::uint64_t region_bytes;
  std::uint32_t layout_version;
  std::int32_t pid;
  std::int32_t runner_pid;
  std::uint32_t generation;        // counts the execs of this PID, from 1
  std::uint32_t asks_for_stream;   // 1 if test boundaries are to come from GoogleTest's stream
  std::uint32_t stack_depth;       // where stacks are cut, from 1 to kMaxStackDepth
  std::uint32_t stack_events;      // whose stacks are recorded: bits of common/stack_event.h
  std::uint32_t counts_temporary;  // 1 if temporary blocks are to be counted (Totals)

  // Written by the runner at any time; relaxed, because nothing else is published with it.
  std::atomic<std::uint32_t> asks;  // kAsk... bits
  // No question is asked at the ends of earlier iterations, even if kAskAtIterationEnd is set.
  std::atomic<std::uint32_t> first_iteration_asked;

  // Written by the agent. Each count is stored with release after the counted record is complete,
  // and loaded with acquire by readers of the records. The counts are relaxed where entries say
  // themselves whether they are complete (threads, contexts, earlier frees, own ranges), and where
  // no records belong to them (boundaries, drops, ends, the last two).
  std::atomic<std::uint32_t> agent_state;       // AgentState; release, after the rest is set up
  std::atomic<std::uint32_t> agent_failure;     // AgentFailure
  std::atomic<std::uint32_t> boundaries;        // BoundarySource
  std::atomic<std::uint32_t> program_end;       // ProgramEnd
  std::atomic<std::uint32_t> current_window;    // the innermost open window; release, once counted
  std::atomic<std::uint32_t> window_count;      // window ids in use, 0 included
  std::atomic<std::uint32_t> thread_count;      // thread ids in use, 0 included
  std::atomic<std::uint32_t> shard_count;       // shards ever in use
  std::atomic<std::uint32_t> module_count;      // module ids in use, 0 included
  std::atomic<std::uint32_t> text_bytes;        // bytes of text in use
  std::atomic<std::uint32_t> stack_node_count;  // stack nodes in use, the roots included
  std::atomic<std::uint32_t> chunk_count;       // chunks of the live map in use
  std::atomic<std::uint32_t> context_count;     // context ids ever asked for, 0 included
  std::atomic<std::uint32_t> allowance_count;   // allowance ids ever asked for, 0 included
  std::atomic<std::uint32_t> earlier_free_count;       // ever seen; the table may hold fewer
  std::atomic<std::uint32_t> free_error_count;         // likewise
  std::atomic<std::uint32_t> own_range_count;          // likewise
  std::atomic<std::uint32_t> measuring_window_count;   // measuring window ids in use, 0 included
  std::atomic<std::uint32_t> pool_count;               // pool ids ever in use, 0 included
  std::atomic<std::uint32_t> pool_area_count;          // areas in use; their entries say which
  std::atomic<std::uint64_t> drops[kDropReasonCount];  // by DropReason
  std::atomic<std::uint64_t> stack_ends[kUnwindEndCount];  // distinct stacks, by UnwindEnd
  // When tracing was enabled in a process that was already running (CLOCK_REALTIME); nothing is
  // known about allocations before that. 0 if the process has been traced from its first
  // instruction.
  std::atomic<std::uint64_t> attached_at_ns;
  // 1 if the initialiser of a local static variable has thrown, and so runs again, or was left by a
  // jump.
  std::atomic<std::uint32_t> static_was_aborted;
  // The following is written before `agent_state`.
  std::uint32_t has_own_operators;  // 1 if the program replaces operators new and delete
  KeptRange kept_ranges[kKeptRanges];
  EncodedPointers encoded_pointers;
};
static_assert(sizeof(RegionHeader) == 448);

// One question at a time from a thread of the test process to the runner, and its answer. The agent
// writes `window`, raises `request` and waits on `reply`; both are futexes. The runner writes the
// answer and sets `reply` to the request's number. Both are stored with release, and loaded with
// acquire on the other side.
struct Mailbox {
  static constexpr std::uint32_t kFileCapacity = 4096;
  static constexpr std::uint32_t kTextCapacity = 0x1'0000 - kFileCapacity - 64;

  std::atomic<std::uint32_t> request;
  std::atomic<std::uint32_t> reply;
  std::uint32_t window;
  std::uint32_t over_budget;  // 1 if the window fails, with `text` at `file`:`line`
  std::uint32_t line;
  std::uint32_t file_length;
  std::uint32_t text_length;
  std::uint32_t question;   // Question
  std::int32_t tid;         // of the thread that asks
  std::uint32_t iteration;  // of --gtest_repeat, from 1
  // A measuring window, or the part for kReadSnapshot, from 0. For kJudge 1 if descriptors are open
  // that were not open when the suite began, else 0.
  std::uint32_t subject;
  std::uint32_t text_room;  // how much text the agent has room for with kMeasure...; 0 for none
  std::int64_t bytes;       // the answer to these; -1 if there is none
  std::int64_t blocks;
  char file[kFileCapacity];
  char text[kTextCapacity];
};
static_assert(sizeof(Mailbox) == 0x1'0000);

// One window. `live_*` is what the shards have handed over; it is stored with release (AddAsOwner
// in plugin/agent/windows/counters.cpp). The rest of the window's count is still in the shards
// whose `window` it is. The peak and the number of mappings are relaxed.
struct WindowRecord {
  std::atomic<std::uint32_t> state;  // WindowState; release, after the fields below
  std::uint32_t kind;                // WindowKind
  std::uint32_t parent;              // the window it was opened in
  std::uint32_t iteration;           // of --gtest_repeat, from 1
  std::uint32_t test_result;         // TestResult
  std::uint32_t line;                // of the test's definition, 0 if not known
  TextRef name;                      // "Suite.Test", "Suite"; empty for the program
  TextRef file;                      // the test's source file, if known
  std::atomic<std::int64_t> live_bytes;
  std::atomic<std::int64_t> live_blocks;
  Totals begin;
  Totals end;                                  // valid once closed
  std::atomic<std::uint64_t> peak_live_bytes;  // of the whole process; see kPeakStepBytes
  std::uint64_t begin_time_ns;                 // CLOCK_MONOTONIC
  std::uint64_t end_time_ns;                   // valid once closed
  std::atomic<std::int64_t> mappings;          // records of mappings committed in it
};
static_assert(sizeof(WindowRecord) == 184);

// A thread. The record is made when the thread begins, or, if its begin was not seen, when it first
// allocates.
struct ThreadRecord {
  std::int32_t tid;            // release, after the fields below; 0: the record is not there yet
  std::uint32_t birth_window;  // the window that was current when the record was made
  std::uint32_t parent;        // the thread that created it; 0 if not known
  std::uint32_t origin_stack;  // the stack of that creation; 0 if not known
  std::uint64_t pointer;  // the thread pointer, where the stack ends unless it is the main thread's
  std::atomic<std::uint32_t> has_ended;  // 1; release, after `name`
  std::uint32_t reserved0;
  char name[16];  // as it was at its end, padded with zeros
  std::uint64_t reserved1[2];
};
static_assert(sizeof(ThreadRecord) == 64);

// The circumstances in which a live block was allocated: a window, a thread, an allowance of the
// code or none, and the measuring windows that were open. Each thread makes a context when it first
// allocates in these circumstances. Several contexts may be equal.
struct ContextRecord {
  std::uint32_t window;
  std::uint16_t thread;
  // 1: by the initialiser of a local static variable that began there.
  std::uint16_t is_static : 1;
  std::uint16_t pool : 15;  // 0 if the block is of none
  std::uint32_t allowance;  // 0 if there is none
  std::uint32_t phase;      // see MeasuringWindowRecord
};
static_assert(sizeof(ContextRecord) == 16);

enum class AllowanceKind : std::uint32_t {
  kScoped = 1,    // leakgate::ScopedAllowance: blocks allocated while it holds
  kExpected = 2,  // leakgate::ExpectOutstanding: what the test leaves on purpose
  kLeftOn = 3,    // a scope that was still active when its test or suite had ended: allows nothing
  // The code has another leak checker ignore blocks (__lsan_ignore_object), and so what these alone
  // lead to. There is no window, and no end.
  kIgnored = 4,
  // Memory that the code has declared to have pointers (__lsan_register_root_region). It begins at
  // `bytes`, has `blocks` bytes, and is registered `thread` times.
  kRootRegion = 5,
  // The text of the program's own __lsan_default_suppressions, as `reason`.
  kSuppressions = 6,
};

// An allowance that the program's own code gives, with its reason.
struct AllowanceRecord {
  std::uint32_t kind;    // AllowanceKind
  std::uint32_t window;  // the window that was current when it was given
  TextRef reason;
  TextRef file;  // where in the code
  std::uint32_t line;
  std::uint32_t thread;
  std::int64_t bytes;   // at most so many; -1 for no limit
  std::int64_t blocks;  // likewise
};
static_assert(sizeof(AllowanceRecord) == 48);

// The free of a block in a later window than the one in which it was allocated.
struct EarlierFree {
  std::uint32_t stack;  // of the allocation
  // The window in which it was freed; release, after the rest. 0: the entry is not complete yet, or
  // was withdrawn.
  std::uint32_t window;
  std::uint64_t size_bytes;
};
static_assert(sizeof(EarlierFree) == 16);

enum class FreeErrorKind : std::uint32_t {
  kMismatched = 1,  // freed by a function of another family than the one that allocated it
  kDouble = 2,      // freed once before, and not allocated since
};

// How a block was freed.
enum class FreeKind : std::uint32_t { kFree = 1, kRealloc = 2, kDelete = 3, kDeleteArray = 4 };

struct FreeError {
  std::uint32_t kind;       // FreeErrorKind
  std::uint32_t free_kind;  // FreeKind
  std::uint32_t window;     // in which it happened
  std::uint32_t thread;     // of the free
  std::uint32_t free_stack;
  std::uint32_t allocation_stack;  // set for a mismatched free only; else 0
  std::uint32_t allocation_kind;   // AllocationKind, likewise
  std::uint32_t reserved;
  std::uint64_t address;
  std::uint64_t size_bytes;
};
static_assert(sizeof(FreeError) == 48);

// Memory of the agent's own in the process. Pointers in it keep no block alive.
struct OwnRange {
  std::uint64_t begin;
  std::uint64_t end;  // release, after `begin`; 0: the entry is not there yet
};
static_assert(sizeof(OwnRange) == 16);

// Bytes and blocks. Only one thread counts them, except that all threads count in the tallies of
// frees by stack. Blocks are counted after bytes, with release.
struct Tally {
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> blocks;
};
static_assert(sizeof(Tally) == 16);

// A few lines of the program's own code that are measured (leakgate::Window). Besides their window,
// blocks carry a number called phase: it is 0 while no measuring window is open, and a new number
// whenever one more is opened. So a measuring window was open in the phases from `first_phase` to
// less than `end_phase`, on whatever thread, and whatever other windows were open.
struct MeasuringWindowRecord {
  std::atomic<std::uint32_t> state;  // WindowState; release, after the fields below
  std::uint32_t window;              // the window that was current when it was opened
  std::uint32_t thread;              // the only one that it measures; 0 for all
  std::uint32_t line;                // where in the code
  TextRef name;
  TextRef file;
  std::uint32_t first_phase;
  std::uint32_t end_phase;     // valid once closed
  std::uint64_t drops_before;  // for the agent's own use
  std::uint64_t reserved[2];
};
static_assert(sizeof(MeasuringWindowRecord) == 64);

// Memory that the program divides itself (leakgate/pool.h).
struct PoolRecord {
  TextRef name;  // empty if an object of the program's tells it apart
};
static_assert(sizeof(PoolRecord) == 8);

// One thread's share of the counters. Only its owner writes it, with plain stores. The counters
// only grow, and when a thread ends, a later thread continues with them. What the owner has
// outstanding in the window `window` and the phase `phase` is
//
//   (allocated - allocated_before) - (freed_here - freed_here_before)
//
// `sequence` is odd while the owner hands that over to the window's record. It is stored with
// release then, and loaded with acquire when counters are summed; the fields that it protects are
// relaxed. The counters are stored with release (AddAsOwner).
struct alignas(64) CounterShard {
  std::atomic<std::uint32_t> sequence;
  std::atomic<std::uint32_t> window;
  Tally allocated;
  Tally freed_here;               // blocks of the shard's window and phase at that time
  std::uint64_t next_peak_check;  // the value of allocated.bytes at which the peak is checked again
  std::atomic<std::int32_t> owner_tid;  // 0 if a thread may take the shard; relaxed
  std::atomic<std::uint32_t> phase;
  Tally freed_else;  // blocks of other windows and phases
  Tally allocated_before;
  Tally freed_here_before;
  // How stacks were found. Those that were not walked were proved to be unchanged.
  std::atomic<std::uint64_t> stacks_walked;
  // Those of the walked ones that cannot be proved later.
  std::atomic<std::uint64_t> stacks_unprovable;
  std::atomic<std::uint64_t> frames_walked;
  std::atomic<std::uint64_t> rules_made;  // for walked frames that had no cached rule
  // The block that the owner is reallocating. During that it is in no slot of the live map, because
  // the host's realloc may give its address to another thread. The bytes are written first.
  std::atomic<std::uint64_t> reallocated_address;  // 0 if there is none; release, and acquire
  std::atomic<std::uint64_t> reallocated_bytes;
  std::atomic<std::uint64_t> events_lost;  // while events are recorded
  Tally temporary;                         // of the blocks that were freed (Totals)
  // What the owner has allocated from pools, less what it has freed of them, in bytes: their chunks
  // count for the peak already. It wraps around.
  std::atomic<std::uint64_t> pooled_bytes;
};
static_assert(sizeof(CounterShard) == 192);

// After each of so many allocated bytes, a thread checks the process's live bytes. So a window's
// peak is too low by less than this for each thread.
inline constexpr std::uint64_t kPeakStepBytes = 64 * 1024;

// One mapped file that a recorded stack runs through. A module that is loaded again, or another one
// at the same addresses, gets a record of its own.
struct ModuleRecord {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bias;  // run-time address minus the address in the file
  TextRef path;        // absolute; "[vdso]" for the kernel's
  std::uint32_t build_id_length;
  std::uint8_t build_id[28];
};
static_assert(sizeof(ModuleRecord) == 64);

// One frame of a call stack. The whole stack is read by following `parent` outwards. The first
// kStackRootCount nodes are not frames: each ends a stack, and its number is the UnwindEnd.
//
// The last two members are for the agent's own use. They may change while the runner reads them,
// through std::atomic_ref.
struct StackNode {
  std::uint64_t pc;      // return address (one past it where the frame was interrupted)
  std::uint32_t parent;  // the caller's node
  std::uint32_t module;  // 0 if the pc is in no known module
  std::uint32_t newest_child;
  std::uint32_t older_sibling;
};
static_assert(sizeof(StackNode) == 24);

inline constexpr std::uint32_t kStackRootCount = 16;
static_assert(kStackRootCount >= kUnwindEndCount);

// With kStacksOfFree, the frees of each stack are counted: there is a Tally for each node, by its
// number, so that there is room wherever the stack has a node. If the stack table is full
// (UnwindEnd::kTableFull counts that), a free counts for the frames that have nodes. If a free was
// not seen, it counts for the node of kNotTaken. With kCountsAllocations, there is another such
// table of what each stack has allocated, freed or not.

// The live map: `address >> kChunkShift` (region_limits.h) picks a chunk through the directory, and
// the 16-byte granule within that picks its words (common/live_slot.h).
inline constexpr std::uint32_t kGranuleShift = 4;
static_assert(kEventAddressBits >= kAddressBits - kGranuleShift);
inline constexpr std::uint64_t kChunkWords = kWordsPerGranule << (kChunkShift - kGranuleShift);
// Each separately mapped part begins at a multiple of this: the largest page that a kernel may
// have.
inline constexpr std::uint64_t kMappingAlignment = 65536;
// A chunk has one extra page, for the other words of a block in the last granules.
inline constexpr std::uint64_t kChunkBytes =
    kChunkWords * sizeof(std::uint32_t) + kMappingAlignment;
inline constexpr std::uint64_t kDirectoryEntries = 1ULL << (kAddressBits - kChunkShift);

// region_limits.h has the sizes of the other tables.
inline constexpr std::uint32_t kMaxThreads = 1U << 16;
inline constexpr std::uint32_t kMaxShards = 1U << 13;
inline constexpr std::uint32_t kMaxContexts = 1U << 22;
inline constexpr std::uint32_t kMaxModules = 1U << 13;
inline constexpr std::uint32_t kMaxAllowances = 1U << 16;
inline constexpr std::uint32_t kMaxFreeErrors = 1U << 12;
inline constexpr std::uint32_t kMaxOwnRanges = 1U << 14;

namespace region_offset {
inline constexpr std::uint64_t kHeader = 0;
// What EntryHooks (entry_hooks.h) needs lies behind the header.
inline constexpr std::uint64_t kEntryHooks = 4096;
inline constexpr std::uint64_t kMailbox = kMappingAlignment;
inline constexpr std::uint64_t kWindows = kMailbox + sizeof(Mailbox);
inline constexpr std::uint64_t kThreads = kWindows + kMaxWindows * sizeof(WindowRecord);
inline constexpr std::uint64_t kShards = kThreads + kMaxThreads * sizeof(ThreadRecord);
inline constexpr std::uint64_t kContexts = kShards + kMaxShards * sizeof(CounterShard);
inline constexpr std::uint64_t kModules = kContexts + kMaxContexts * sizeof(ContextRecord);
inline constexpr std::uint64_t kText = kModules + kMaxModules * sizeof(ModuleRecord);
inline constexpr std::uint64_t kAllowances = kText + kMaxTextBytes;
inline constexpr std::uint64_t kEarlierFrees =
    kAllowances + kMaxAllowances * sizeof(AllowanceRecord);
inline constexpr std::uint64_t kFreeErrors = kEarlierFrees + kMaxEarlierFrees * sizeof(EarlierFree);
inline constexpr std::uint64_t kOwnRanges = kFreeErrors + kMaxFreeErrors * sizeof(FreeError);
inline constexpr std::uint64_t kMappingTotals = kOwnRanges + kMaxOwnRanges * sizeof(OwnRange);
inline constexpr std::uint64_t kMappings = kMappingTotals + kMappingAlignment;
inline constexpr std::uint64_t kMeasuringWindows = kMappings + kMaxMappings * sizeof(MappingRecord);
inline constexpr std::uint64_t kPools =
    kMeasuringWindows + kMaxMeasuringWindows * sizeof(MeasuringWindowRecord);
// Each entry is the number of an area of memory (its address / kPoolAreaBytes) plus one, or 0.
inline constexpr std::uint64_t kPoolAreas = kPools + kMaxPools * sizeof(PoolRecord);
inline constexpr std::uint64_t kStacks = kPoolAreas + kMaxPoolAreas * sizeof(std::uint64_t);
inline constexpr std::uint64_t kFreedBy = kStacks + kMaxStackNodes * sizeof(StackNode);
inline constexpr std::uint64_t kAllocatedBy = kFreedBy + kMaxStackNodes * sizeof(Tally);
inline constexpr std::uint64_t kEventControl = kAllocatedBy + kMaxStackNodes * sizeof(Tally);
inline constexpr std::uint64_t kEventBuffers = kEventControl + kMappingAlignment;
// With kNotesTouchedPages, a byte for each kMappingAlignment bytes of what follows: not 0 once
// something was written there.
inline constexpr std::uint64_t kTouched = kEventBuffers + kMaxEventBuffers * sizeof(EventBuffer);
inline constexpr std::uint64_t kTouchedBytes = kNotesTouchedPages ? 8 * kMappingAlignment : 0;
// Each entry is 0, or the number of a chunk plus one.
inline constexpr std::uint64_t kDirectory = kTouched + kTouchedBytes;
inline constexpr std::uint64_t kChunks = kDirectory + kDirectoryEntries * sizeof(std::uint32_t);
// Mapped only if events are recorded.
inline constexpr std::uint64_t kEvents = kChunks + kMaxChunks * kChunkBytes;
inline constexpr std::uint64_t kEnd = kEvents + kMaxEventBytes;
static_assert(!kNotesTouchedPages || (kEvents - kDirectory) / kMappingAlignment <= kTouchedBytes);
static_assert(kChunks % kMappingAlignment == 0 && kShards % kMappingAlignment == 0 &&
              kDirectory % kMappingAlignment == 0);
static_assert(kEventControl % kMappingAlignment == 0 && kEvents % kMappingAlignment == 0);
static_assert(kChunkBytes % kMappingAlignment == 0);
}  // namespace region_offset

}  // namespace leakgate
