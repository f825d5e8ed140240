#include "runner/snapshot/file/write_snapshot.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>
#include <vector>

#include "runner/snapshot/file/linux/describe_process.h"
#include "runner/snapshot/file/snapshot_writer.h"

namespace leakgate {
namespace {

constexpr auto kCut = static_cast<std::uint32_t>(UnwindEnd::kTableFull);

// Copies call stacks from a region into a snapshot file, each frame once, when a block first needs
// it. Stacks of no live block are left out.
class StackCopier {
 public:
  // Both must outlive it.
  StackCopier(const RegionReader& region, SnapshotWriter& writer);

  // Returns the id in the file of the region's stack `id`. A stack that the process has
  // overwritten, or made while the file was written, ends early, like one for which the table was
  // full.
  [[nodiscard]] std::uint32_t Copy(std::uint32_t id) {
    const std::uint32_t known = id < copied_.size() ? copied_[id] : 0;
    return known != 0 ? known : CopyNew(id);
  }

 private:
  std::uint32_t CopyNew(std::uint32_t id);
  std::uint32_t Module(std::uint32_t id);

  const RegionReader& region_;
  SnapshotWriter& writer_;
  std::vector<std::uint32_t> copied_;  // by the region's id; 0: not yet
  std::vector<bool> modules_;
};

StackCopier::StackCopier(const RegionReader& region, SnapshotWriter& writer)
    : region_(region), writer_(writer), modules_(kMaxModules) {}

// Goes from the stack outwards to what is in the file already, then back again: a frame's caller
// comes before the frame.
std::uint32_t StackCopier::CopyNew(std::uint32_t id) {
  std::vector<std::pair<std::uint32_t, StackNodeCopy>> path;
  std::uint32_t parent = kCut;
  for (std::uint32_t at = id; path.size() < kMaxStackDepth;) {
    if (at < kStackRootCount) {
      parent = at < kUnwindEndCount ? at : kCut;
      break;
    }
    if (at < copied_.size() && copied_[at] != 0) {
      parent = copied_[at];
      break;
    }
    const std::optional<StackNodeCopy> node = region_.Node(at);
    if (!node) break;
    path.emplace_back(at, *node);
    at = node->parent;
  }
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    const auto& [number, node] = *step;
    if (number >= copied_.size())
      copied_.resize(std::max<std::size_t>(number + 1, 2 * copied_.size()));
    parent = copied_[number] = writer_.Add(SnapshotNode{node.pc, parent, Module(node.module)});
  }
  return parent;
}

std::uint32_t StackCopier::Module(std::uint32_t id) {
  if (id == 0 || id >= kMaxModules) return 0;
  if (modules_[id]) return id;
  SnapshotModule module{.id = id, .module = region_.ModuleOf(id)};
  if (module.module.end == 0) return 0;
  if (module.module.build_id.empty()) {
    const FileState state = StateOfFile(module.module.path);
    module.file_bytes = state.bytes;
    module.file_modified_ns = state.modified_ns;
  }
  modules_[id] = true;
  writer_.Add(module);
  return id;
}

constexpr std::uint64_t kMostBlockBytes = 1ULL << kAddressBits;
constexpr std::uint64_t kMostWrittenBytes = 1ULL << 62;  // a reader takes no more

std::uint64_t MonotonicNow() {
  // steady_clock is CLOCK_MONOTONIC, as are the times of windows.
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

bool IsKind(AllocationKind kind) {
  return kind >= AllocationKind::kMalloc && kind <= AllocationKind::kNewArray;
}

// Writes what a block refers to into the file, when it is needed first.
class SnapshotCopy {
 public:
  SnapshotCopy(const RegionReader& region, const SnapshotRequest& request, SnapshotWriter& writer)
      : region_(region),
        request_(request),
        writer_(writer),
        stacks_(region, writer),
        windows_(kMaxWindows),
        threads_(kMaxThreads) {}

  Expected<void> Add(std::span<const LiveBlock> blocks) {
    for (LiveBlock block : blocks) {
      if (!IsKind(block.kind)) block.kind = AllocationKind::kMalloc;
      block.size_bytes = std::min(block.size_bytes, kMostBlockBytes);
      bytes_ += block.size_bytes;
      if (bytes_ > kMostWrittenBytes) {
        return InconclusiveError(
            "the process has overwritten leakgate's tables: they hold more than an address space; "
            "look for wild writes, for example with -fsanitize=address");
      }
      block.stack = stacks_.Copy(block.stack);
      block.window = Window(block.window);
      block.thread = Thread(block.thread);
      writer_.Add(block);
    }
    return {};
  }

  void Add(const MappingCopy& mapping) {
    writer_.Add(SnapshotMapping{.address = mapping.address,
                                .bytes = mapping.size_bytes,
                                .kind = mapping.kind,
                                .protection = mapping.protection,
                                .stack = stacks_.Copy(mapping.stack),
                                .window = Window(mapping.window),
                                .thread = Thread(mapping.thread),
                                .mapped_ns = mapping.time_ns});
  }

  // If it does not fit into a reader's sums, the process has overwritten it.
  void Add(const FreedByCopy& freed) {
    const auto take = [](std::int64_t amount, std::uint64_t& all) {
      const std::uint64_t taken =
          std::min(static_cast<std::uint64_t>(amount), kMostWrittenBytes - all);
      all += taken;
      return taken;
    };
    writer_.Add(SnapshotFrees{.stack = stacks_.Copy(freed.stack),
                              .bytes = take(freed.amount.bytes, freed_.bytes),
                              .blocks = take(freed.amount.blocks, freed_.blocks)});
  }

  // Returns the id of the window in the file; 0 if there is no such window.
  std::uint32_t Window(std::uint32_t id) {
    if (id == 0 || id >= kMaxWindows) return 0;
    if (windows_[id]) return id;
    const WindowCopy window = region_.Window(id);
    if (window.id == 0) return 0;
    // A window opens inside an earlier one. So there is no cycle, whatever the region says.
    const std::uint32_t parent = window.parent < id ? Window(window.parent) : 0;
    windows_[id] = true;
    writer_.Add(SnapshotWindow{.id = id,
                               .kind = window.kind,
                               .state = window.state,
                               .parent = parent,
                               .iteration = static_cast<std::uint32_t>(window.iteration),
                               .test_result = window.test_result,
                               .begin_ns = window.begin_time_ns,
                               .end_ns = window.end_time_ns,
                               .line = static_cast<std::uint32_t>(window.line),
                               .name = window.name,
                               .file = window.file});
    return id;
  }

 private:
  std::uint32_t Thread(std::uint32_t id) {
    if (id == 0 || id >= kMaxThreads) return 0;
    if (threads_[id]) return id;
    const ThreadCopy thread = region_.Thread(id);
    if (thread.tid == 0) return 0;
    // A thread is created by an earlier one, so there is no cycle here either.
    const std::uint32_t parent = thread.parent < id ? Thread(thread.parent) : 0;
    threads_[id] = true;
    const bool is_asked = !thread.has_ended && request_.thread_name;
    writer_.Add(SnapshotThread{
        .id = id,
        .tid = thread.tid,
        .parent = parent,
        .origin_stack = thread.origin_stack == 0 ? 0 : stacks_.Copy(thread.origin_stack),
        .birth_window = Window(thread.birth_window),
        .has_ended = thread.has_ended,
        .name = is_asked ? request_.thread_name(thread.tid) : thread.name});
    return id;
  }

  const RegionReader& region_;
  const SnapshotRequest& request_;
  SnapshotWriter& writer_;
  StackCopier stacks_;
  std::vector<bool> windows_;
  std::vector<bool> threads_;
  std::uint64_t bytes_ = 0;
  SnapshotFrees freed_;
};

// It is called last, because drops that happen while blocks are copied count, too.
SnapshotClosing ClosingOf(const RegionReader& region, std::uint32_t current_window) {
  SnapshotClosing closing;
  closing.finished_ns = MonotonicNow();
  closing.since_begin = region.CurrentTotals();
  closing.current_window = current_window;
  closing.window_count = region.WindowCount();
  closing.thread_count = region.ThreadCount();
  closing.agent_state = region.State();
  closing.agent_failure = std::min(region.Failure(), AgentFailure::kCanaryUnseen);
  closing.program_end = std::min(region.End(), ProgramEnd::kImmediate);
  closing.boundaries = region.Boundaries();
  for (std::uint32_t i = 0; i < kDropReasonCount; ++i) {
    closing.drops[i] = region.Drops(static_cast<DropReason>(i));
  }
  for (std::uint32_t i = 0; i < kUnwindEndCount; ++i) {
    closing.stack_ends[i] = region.StackEnds(static_cast<UnwindEnd>(i));
  }
  return closing;
}

SnapshotFacts FactsOf(const RegionReader& region, const SnapshotRequest& request) {
  SnapshotFacts facts = request.facts;
  facts.taken_ns = MonotonicNow();
  facts.tracing_begin_ns = region.Window(1).begin_time_ns;
  return facts;
}

Expected<SnapshotClosing> Copy(const RegionReader& region, const SnapshotRequest& request,
                               SnapshotWriter& writer) {
  SnapshotCopy copy(region, request, writer);
  const std::uint32_t current = copy.Window(region.CurrentWindow());
  const Expected<void> copied =
      region.VisitBlocks([&](std::span<const LiveBlock> blocks) { return copy.Add(blocks); });
  if (!copied) return Unexpected(copied.error());
  for (const MappingCopy& mapping : region.Mappings()) copy.Add(mapping);
  for (const FreedByCopy& freed : region.FreedBy()) copy.Add(freed);
  const SnapshotClosing closing = ClosingOf(region, current);
  if (request.copied) {
    if (const Expected<void> fits = request.copied(); !fits) return Unexpected(fits.error());
  }
  return writer.Finish(closing);
}

}  // namespace

Expected<SnapshotClosing> WriteSnapshot(const RegionReader& region, const SnapshotRequest& request,
                                        const std::filesystem::path& path) {
  Expected<SnapshotWriter> writer = SnapshotWriter::Create(path, FactsOf(region, request));
  if (!writer) return Unexpected(writer.error());
  return Copy(region, request, *writer);
}

Expected<std::string> SnapshotText(const RegionReader& region, const SnapshotRequest& request) {
  std::ostringstream text;
  SnapshotWriter writer(text, FactsOf(region, request));
  const Expected<SnapshotClosing> copied = Copy(region, request, writer);
  if (!copied) return Unexpected(copied.error());
  return std::move(text).str();
}

}  // namespace leakgate
