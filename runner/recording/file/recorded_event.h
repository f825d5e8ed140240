// The values of a recording: its events as readers get them, and the other content of the file.
//
// Ids of windows, threads, modules and stacks are the file's own. The reader gets what an event
// refers to before the event.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/allocation_kind.h"
#include "common/event_stream.h"
#include "runner/base/expected.h"
#include "runner/region/region_copies.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

enum class RecordedKind : std::uint8_t {
  kAllocate,
  kFree,
  kRestore,       // a realloc failed: the block that was freed before is live as it was
  kMap,           // address, size_bytes, allocation_kind, stack; mark is 1 if it is only reserved
  kUnmap,         // address, size_bytes, stack
  kCommit,        // likewise: reserved memory is committed (mprotect)
  kDecommit,      // likewise: committed memory is returned to the kernel (madvise)
  kWindowBegins,  // window
  kWindowEnds,    // window
  kMark,          // mark
  kThreadBegins,
  kThreadEnds,
  kModulesChange,
  kLost,      // size_bytes: so many events of this thread were lost from `address` (time_ns) to now
  kPause,     // recording was switched off by a command
  kContinue,  // and on again
  kWindowChanges,  // the thread's next allocations are charged to `window`
};
inline constexpr unsigned kRecordedKinds = 17;

// One event. Events of all threads are ordered by time, accurate to about a microsecond; the order
// of each thread is exact. So if a block changes hands within a microsecond, its free may come
// before its allocation: the n-th free at an address always belongs to the n-th allocation there,
// unless events were lost.
struct RecordedEvent {
  std::uint64_t time_ns = 0;  // since the recording began
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;   // of the allocation; of the free, if those are recorded, else 0
  std::uint32_t window = 0;  // the window to which an allocation or mapping is charged
  std::uint32_t mark = 0;    // index in RecordingVisitor::mark's order
  RecordedKind kind = RecordedKind::kAllocate;
  AllocationKind allocation_kind = AllocationKind::kMalloc;  // of kAllocate and kMap
};

// What is known when the recording begins, besides the process (SnapshotFacts, whose taken_unix_ns
// and taken_ns are of the recording's begin).
struct RecordingFacts {
  SnapshotFacts process;
  std::uint32_t buffer_bytes = 0;
  std::uint32_t buffer_count = 0;
  WhenFull when_full = WhenFull::kWait;
  EventClock clock = EventClock::kCounter;
  double unit_ns = 1;  // how long a unit of time is
  std::string test{};  // if the recording covers one test: its name
};

// How a recording ended, and what it lacks.
struct RecordingClosing {
  std::uint64_t end_ns = 0;  // since the recording began
  std::uint64_t events = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t waits = 0;      // how often a thread waited for a buffer
  std::uint64_t waited_ns = 0;  // and how long in all
  SnapshotClosing process;      // its totals count since tracing began
  // Sentences that say what is known to be missing. Each is a reason to call the recording
  // incomplete.
  std::vector<std::string> missing{};
};

// A recording that is complete.
struct RecordedFile {
  std::filesystem::path path;
  RecordingClosing closing;
};

// The functions that receive the content of a recording. What something refers to comes before it.
// Any may be empty.
struct RecordingVisitor {
  std::function<void(RecordingFacts&& facts)> facts;
  std::function<void(SnapshotModule&& module)> module;
  // A window comes when it begins, and again with its end and result once it has ended.
  std::function<void(SnapshotWindow&& window)> window;
  std::function<void(SnapshotThread&& thread)> thread;
  std::function<void(std::span<const SnapshotNode> nodes)> nodes;
  std::function<void(std::string&& name)> mark;  // the names of marks, in order
  // What was live when the recording began, before any event.
  std::function<Expected<void>(std::span<const LiveBlock> blocks)> blocks;
  std::function<void(SnapshotMapping&& mapping)> mapping;
  // Some thousands at a time, in order of time.
  std::function<Expected<void>(std::span<const RecordedEvent> events)> events;
  // Comes last. A file that was cut off has none: then `ReadRecording` makes one, whose `missing`
  // says that the file was cut off.
  std::function<void(RecordingClosing&& closing)> closing;
};

}  // namespace leakgate
