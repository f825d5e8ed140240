// Small snapshot files of known content, and what a reader makes of them.
#pragma once

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "runner/snapshot/file/read_snapshot.h"
#include "runner/snapshot/file/snapshot_writer.h"
#include "tests/support/command.h"

namespace leakgate::sample {

// All that a file holds.
struct WholeSnapshot {
  SnapshotFacts facts;
  SnapshotClosing closing;
  std::vector<SnapshotModule> modules;
  std::vector<SnapshotWindow> windows;
  std::vector<SnapshotThread> threads;
  std::vector<SnapshotNode> nodes;  // from kStackRootCount on
  std::vector<LiveBlock> blocks;
  std::vector<SnapshotMapping> mappings;
  std::vector<SnapshotFrees> frees;
  std::optional<SnapshotPages> pages;
};

inline SnapshotVisitor Into(WholeSnapshot& whole) {
  return {.facts = [&](SnapshotFacts&& it) { whole.facts = std::move(it); },
          .module = [&](SnapshotModule&& it) { whole.modules.push_back(std::move(it)); },
          .window = [&](SnapshotWindow&& it) { whole.windows.push_back(std::move(it)); },
          .thread = [&](SnapshotThread&& it) { whole.threads.push_back(std::move(it)); },
          .nodes =
              [&](std::span<const SnapshotNode> it) {
                whole.nodes.insert(whole.nodes.end(), it.begin(), it.end());
              },
          .blocks =
              [&](std::span<const LiveBlock> it) {
                whole.blocks.insert(whole.blocks.end(), it.begin(), it.end());
                return Expected<void>();
              },
          .mapping = [&](SnapshotMapping&& it) { whole.mappings.push_back(std::move(it)); },
          .frees = [&](SnapshotFrees&& it) { whole.frees.push_back(it); },
          .pages = [&](SnapshotPages&& it) { whole.pages = std::move(it); },
          .closing = [&](SnapshotClosing&& it) { whole.closing = it; }};
}

// The bytes of a file as a reader sees them, by the name "sample".
inline Expected<WholeSnapshot> ReadBytes(const std::string& bytes) {
  std::istringstream in(bytes);
  WholeSnapshot whole;
  const Expected<void> read = ReadSnapshot(in, "sample", Into(whole));
  if (!read) return Unexpected(read.error());
  return whole;
}

// The bytes of the file that `fill` fills.
template <typename Fill>
std::string Written(const SnapshotFacts& facts, const SnapshotClosing& closing, Fill fill) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.File("sample.snapshot");
  SnapshotWriter writer = SnapshotWriter::Create(path, facts).value();
  fill(writer);
  if (!writer.Finish(closing)) throw std::runtime_error("cannot write " + path);
  return test::ReadFile(path);
}

inline SnapshotFacts Facts() {
  return {.pid = 4242,
          .generation = 2,
          .moment = SnapshotMoment::kStopped,
          .stack_depth = 256,
          .image = "/src/build/net_test",
          .command_line = {"./net_test", "--gtest_filter=*"},
          .occasion = "end of HttpTest.KeepAlive",
          .taken_unix_ns = 1'700'000'000'000'000'000,
          .taken_ns = 5'000'000'000,
          .tracing_begin_ns = 1'000'000'000,
          .not_recorded = {"something"},
          .host = "builder",
          .boot_id = "0b",
          .kernel = "Linux 6.1 x86_64",
          .leakgate_version = "0.1.0"};
}

// Two windows, two threads, three frames, three blocks and a mapping.
inline std::string SmallSnapshot() {
  return Written(
      Facts(), {.finished_ns = 5'000'100'000, .current_window = 2, .window_count = 3},
      [](SnapshotWriter& writer) {
        writer.Add(SnapshotModule{
            .id = 1, .module = {0x1000, 0x2000, 0x1000, "/src/build/net_test", "ab12"}});
        writer.Add(SnapshotWindow{.id = 1,
                                  .kind = WindowKind::kProgram,
                                  .state = WindowState::kOpen,
                                  .begin_ns = 1'000'000'000});
        writer.Add(SnapshotWindow{.id = 2,
                                  .kind = WindowKind::kTest,
                                  .state = WindowState::kClosed,
                                  .parent = 1,
                                  .begin_ns = 2'000'000'000,
                                  .end_ns = 3'000'000'000,
                                  .line = 25,
                                  .name = "HttpTest.KeepAlive",
                                  .file = "http_test.cc"});
        const std::uint32_t main = writer.Add(SnapshotNode{0x1100, 0, 1});
        const std::uint32_t grow = writer.Add(SnapshotNode{0x1080, main, 1});
        const std::uint32_t put = writer.Add(SnapshotNode{0x1fff, main, 1});
        writer.Add(SnapshotThread{.id = 1, .tid = 4242, .name = "net_test"});
        writer.Add(SnapshotThread{.id = 2,
                                  .tid = 4243,
                                  .parent = 1,
                                  .origin_stack = put,
                                  .birth_window = 2,
                                  .has_ended = true,
                                  .name = "worker"});
        writer.Add(LiveBlock{0x5555'0000'1040, 56, AllocationKind::kNew, false, 0, grow, 2, 1});
        writer.Add(LiveBlock{0x5555'0000'1080, 4096, AllocationKind::kMalloc, false, 0, put, 1, 2});
        writer.Add(LiveBlock{0x7fff'0000'0000, 0, AllocationKind::kNewArray, false, 0, grow, 2, 1});
        writer.Add(SnapshotMapping{.address = 0x7000'0000'0000,
                                   .bytes = 65536,
                                   .kind = AllocationKind::kMappedFile,
                                   .protection = 1,
                                   .stack = grow,
                                   .window = 2,
                                   .thread = 1,
                                   .mapped_ns = 2'500'000'000});
      });
}

}  // namespace leakgate::sample
