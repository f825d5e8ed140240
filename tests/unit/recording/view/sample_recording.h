// A small recording of known content, as its reader gives it to visitors.
//
//   0.1 s   A allocates 1000 B, which stay
//   1.0 s   test Http.KeepAlive begins: B allocates 300 B ten times, each freed at once, and 50 B
//           that stay; A allocates 5000 B, which are live at the peak
//   1.5 s   mark "loaded"; A's 5000 B are freed by the worker
//   2.0 s   the test ends; test Http.Close begins, and allocates 100 B, freed after it
//   2.5 s   mark "loaded" again
//   3.0 s   it ends; mark "done"
//   3.5 s   the 100 B are freed
//   4.0 s   the end
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runner/recording/view/recording_view.h"

namespace leakgate::sample {

inline constexpr std::uint64_t kMs = 1'000'000;
inline constexpr std::uint32_t kMain = kStackRootCount;  // frames, and stacks
inline constexpr std::uint32_t kSiteA = kMain + 1;
inline constexpr std::uint32_t kSiteB = kMain + 2;

// What a recording has. Tests change it, and then read it.
struct Recording {
  RecordingFacts facts;
  std::vector<SnapshotWindow> windows;
  std::vector<std::string> marks;
  std::vector<LiveBlock> blocks;
  std::vector<SnapshotMapping> mappings;
  std::vector<RecordedEvent> events;
  RecordingClosing closing;

  [[nodiscard]] RecordingSource Source() const {
    return [recording = *this](const RecordingVisitor& visitor) { return recording.Give(visitor); };
  }

  [[nodiscard]] Expected<void> Give(const RecordingVisitor& visitor) const {
    if (visitor.facts) visitor.facts(RecordingFacts(facts));
    if (visitor.module) {
      visitor.module({.id = 1, .module = {0x1000, 0x2000, 0x1000, "/src/build/net_test", "ab12"}});
    }
    for (const SnapshotWindow& window : windows) {
      if (visitor.window) visitor.window(SnapshotWindow(window));
    }
    if (visitor.thread) {
      visitor.thread({.id = 1, .tid = 4242, .name = "net_test"});
      visitor.thread({.id = 2, .tid = 4243, .name = "worker"});
    }
    const std::vector<SnapshotNode> nodes = {
        {0x1100, 0, 1}, {0x1200, kMain, 1}, {0x1300, kMain, 1}};
    if (visitor.nodes) visitor.nodes(nodes);
    for (const std::string& mark : marks) {
      if (visitor.mark) visitor.mark(std::string(mark));
    }
    if (visitor.blocks && !blocks.empty()) {
      if (const Expected<void> used = visitor.blocks(blocks); !used) return used;
    }
    for (const SnapshotMapping& mapping : mappings) {
      if (visitor.mapping) visitor.mapping(SnapshotMapping(mapping));
    }
    if (visitor.events) {
      if (const Expected<void> used = visitor.events(events); !used) return used;
    }
    if (visitor.closing) visitor.closing(RecordingClosing(closing));
    return {};
  }

  // Each appends an event.
  void Allocate(std::uint64_t time_ns, std::uint64_t address, std::uint64_t bytes,
                std::uint32_t stack, std::uint32_t window, std::uint32_t thread = 1) {
    events.push_back({.time_ns = time_ns,
                      .address = address,
                      .size_bytes = bytes,
                      .thread = thread,
                      .stack = stack,
                      .window = window});
  }
  void Free(std::uint64_t time_ns, std::uint64_t address, std::uint32_t thread = 1) {
    events.push_back(
        {.time_ns = time_ns, .address = address, .thread = thread, .kind = RecordedKind::kFree});
  }
  void Window(std::uint64_t time_ns, RecordedKind kind, std::uint32_t window) {
    events.push_back({.time_ns = time_ns, .thread = 1, .window = window, .kind = kind});
  }
  void Mark(std::uint64_t time_ns, std::uint32_t mark) {
    events.push_back({.time_ns = time_ns, .thread = 1, .mark = mark, .kind = RecordedKind::kMark});
  }
  void Map(RecordedKind kind, std::uint64_t time_ns, std::uint64_t address, std::uint64_t bytes,
           bool is_reserved = false) {
    events.push_back({.time_ns = time_ns,
                      .address = address,
                      .size_bytes = bytes,
                      .thread = 1,
                      .stack = kSiteA,
                      .window = 1,
                      .mark = is_reserved ? 1U : 0U,
                      .kind = kind,
                      .allocation_kind = AllocationKind::kMapped});
  }
};

inline SnapshotWindow TestWindow(std::uint32_t id, const std::string& name) {
  return {.id = id, .kind = WindowKind::kTest, .parent = 1, .begin_ns = 5000 * kMs, .name = name};
}

inline Recording EmptyRecording() {
  Recording recording;
  recording.facts.process = {.pid = 4242,
                             .stack_depth = 256,
                             .image = "/src/build/net_test",
                             .command_line = {"./net_test"},
                             .taken_unix_ns = 1'700'000'000'000'000'000,
                             .taken_ns = 1000 * kMs,
                             .tracing_begin_ns = 1000 * kMs,
                             .host = "builder",
                             .kernel = "Linux 6.1 x86_64",
                             .leakgate_version = "1"};
  recording.windows = {{.id = 1, .kind = WindowKind::kProgram, .begin_ns = 1000 * kMs},
                       TestWindow(2, "Http.KeepAlive"),
                       TestWindow(3, "Http.Close")};
  recording.marks = {"loaded", "done"};
  recording.closing.end_ns = 4000 * kMs;
  recording.closing.process.agent_state = AgentState::kTracing;
  return recording;
}

inline Recording SmallRecording() {
  Recording it = EmptyRecording();
  it.Allocate(100 * kMs, 0x10000, 1000, kSiteA, 1);
  it.Window(1000 * kMs, RecordedKind::kWindowBegins, 2);
  for (std::uint64_t i = 0; i < 10; ++i) {
    it.Allocate((1100 + i) * kMs, 0x20000, 300, kSiteB, 2);
    it.Free((1100 + i) * kMs + 500, 0x20000);
  }
  it.Allocate(1200 * kMs, 0x20000, 50, kSiteB, 2);
  it.Allocate(1300 * kMs, 0x30000, 5000, kSiteA, 2);
  it.Mark(1500 * kMs, 0);
  it.Free(1600 * kMs, 0x30000, 2);
  it.Window(2000 * kMs, RecordedKind::kWindowEnds, 2);
  it.Window(2000 * kMs, RecordedKind::kWindowBegins, 3);
  it.Allocate(2100 * kMs, 0x30000, 100, kSiteB, 3);
  it.Mark(2500 * kMs, 0);
  it.Window(3000 * kMs, RecordedKind::kWindowEnds, 3);
  it.Mark(3000 * kMs, 1);
  it.Free(3500 * kMs, 0x30000);
  return it;
}

}  // namespace leakgate::sample
