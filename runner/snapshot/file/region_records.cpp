#include "runner/snapshot/file/region_records.h"

#include <algorithm>
#include <utility>

#include "runner/base/file_version.h"
#include "runner/base/path_text.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kMostBlockBytes = 1ULL << kAddressBits;
constexpr std::uint64_t kMostWrittenBytes = 1ULL << 62;  // the limit of a reader

bool IsKind(AllocationKind kind) {
  return kind >= AllocationKind::kMalloc && kind <= AllocationKind::kNewArray;
}

constexpr auto kCut = static_cast<std::uint32_t>(UnwindEnd::kTableFull);

}  // namespace

RegionRecords::RegionRecords(const RegionReader& region, const ThreadNames& thread_name,
                             RecordWriter& writer)
    : region_(region),
      thread_name_(thread_name),
      writer_(writer),
      modules_(kMaxModules),
      windows_(kMaxWindows),
      threads_(kMaxThreads) {}

// Goes from the stack outwards to a frame that is in the file already, then back again, because a
// frame's caller must come before the frame.
std::uint32_t RegionRecords::CopyStack(std::uint32_t id) {
  std::vector<std::pair<std::uint32_t, StackNodeCopy>> path;
  std::uint32_t parent = kCut;
  for (std::uint32_t at = id; path.size() < kMaxStackDepth;) {
    if (at < kStackRootCount) {
      parent = at < kUnwindEndCount ? at : kCut;
      break;
    }
    if (at < stacks_.size() && stacks_[at] != 0) {
      parent = stacks_[at];
      break;
    }
    const std::optional<StackNodeCopy> node = region_.Node(at);
    if (!node) break;
    path.emplace_back(at, *node);
    at = node->parent;
  }
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    const auto& [number, node] = *step;
    if (number >= stacks_.size()) {
      stacks_.resize(std::max<std::size_t>(number + 1, 2 * stacks_.size()));
    }
    // If the process has made a circle of its stacks, a frame is found again.
    if (stacks_[number] != 0) {
      parent = stacks_[number];
      continue;
    }
    parent = stacks_[number] = writer_.Add(SnapshotNode{node.pc, parent, Module(node.module)});
  }
  return parent;
}

// Counts the texts that are copied. Once a text has no room, it and all later ones are left out:
// the process has overwritten its tables, or has more names than any reader accepts.
bool RegionRecords::HasRoom(snapshot_format::TextRoom& room, std::uint64_t bytes) {
  const bool has_room = room.Take(bytes);
  if (!has_room) ++left_out_;
  return has_room;
}

std::uint32_t RegionRecords::Module(std::uint32_t id) {
  if (id == 0 || id >= kMaxModules) return 0;
  if (modules_[id]) return id;
  if (left_out_ != 0) return LeaveOut();
  SnapshotModule module{.id = id, .module = region_.ModuleOf(id)};
  if (!HasRoom(room_, module.module.path.size()) || module.module.end == 0) return 0;
  if (module.module.build_id.empty()) {
    const FileVersion file = VersionOf(PathOf(module.module.path)).value_or(FileVersion{});
    module.file_bytes = file.size;
    module.file_modified_ns = static_cast<std::uint64_t>(file.modified_ns);
  }
  modules_[id] = true;
  writer_.Add(module);
  return id;
}

SnapshotWindow RegionRecords::WindowNow(std::uint32_t id) {
  const WindowCopy window = region_.Window(id);
  return {.id = id,
          .kind = window.kind,
          .state = window.state,
          .parent = window.parent < id && HasWindow(window.parent) ? window.parent : 0,
          .iteration = static_cast<std::uint32_t>(window.iteration),
          .test_result = window.test_result,
          .begin_ns = window.begin_time_ns,
          .end_ns = window.end_time_ns,
          .line = static_cast<std::uint32_t>(window.line),
          .name = window.name,
          .file = window.file};
}

SnapshotThread RegionRecords::ThreadNow(std::uint32_t id) {
  const ThreadCopy thread = region_.Thread(id);
  const bool is_asked = !thread.has_ended && thread_name_;
  return {.id = id,
          .tid = thread.tid,
          .parent = thread.parent < id && HasThread(thread.parent) ? thread.parent : 0,
          .origin_stack = thread.origin_stack == 0 ? 0 : Stack(thread.origin_stack),
          .birth_window = Window(thread.birth_window),
          .has_ended = thread.has_ended,
          .name = is_asked ? thread_name_(thread.tid) : thread.name};
}

// A window opens inside an earlier one, and a thread is created by an earlier one. So there is no
// circle, whatever the region contains; but it may contain very long chains.
template <typename ParentOf>
std::vector<std::uint32_t> RegionRecords::WithParents(std::uint32_t id,
                                                      const std::vector<bool>& known,
                                                      ParentOf parent_of) {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t at = id; at != 0 && at < known.size() && !known[at];) {
    const std::optional<std::uint32_t> parent = parent_of(at);
    if (!parent) break;
    missing.push_back(at);
    at = *parent < at ? *parent : 0;
  }
  std::reverse(missing.begin(), missing.end());
  return missing;
}

std::uint32_t RegionRecords::CopyWindow(std::uint32_t id) {
  if (id == 0) return 0;
  if (left_out_ != 0) return LeaveOut();
  const auto parent_of = [this](std::uint32_t at) -> std::optional<std::uint32_t> {
    const WindowCopy window = region_.Window(at);
    if (window.id == 0 || !HasRoom(room_, window.name.size() + window.file.size())) return {};
    return window.parent;
  };
  for (const std::uint32_t missing : WithParents(id, windows_, parent_of)) {
    writer_.Add(WindowNow(missing));
    windows_[missing] = true;
  }
  return HasWindow(id) ? id : 0;
}

std::uint32_t RegionRecords::CopyThread(std::uint32_t id) {
  const auto parent_of = [this](std::uint32_t at) -> std::optional<std::uint32_t> {
    const ThreadCopy thread = region_.Thread(at);
    return thread.tid == 0 ? std::nullopt : std::optional(thread.parent);
  };
  for (const std::uint32_t missing : WithParents(id, threads_, parent_of)) {
    writer_.Add(ThreadNow(missing));
    threads_[missing] = true;
  }
  return HasThread(id) ? id : 0;
}

void RegionRecords::AddEnds() {
  snapshot_format::TextRoom room(kMostCopiedText);
  for (std::uint32_t id = 1; id < kMaxWindows; ++id) {
    if (!windows_[id]) continue;
    const SnapshotWindow window = WindowNow(id);
    if (!HasRoom(room, window.name.size() + window.file.size())) break;
    writer_.AddEnd(window);
  }
  for (std::uint32_t id = 1; id < kMaxThreads; ++id) {
    if (threads_[id]) writer_.AddEnd(ThreadNow(id));
  }
}

Expected<void> RegionRecords::Add(std::span<const LiveBlock> blocks) {
  for (LiveBlock block : blocks) {
    if (!IsKind(block.kind)) block.kind = AllocationKind::kMalloc;
    block.size_bytes = std::min(block.size_bytes, kMostBlockBytes);
    bytes_ += block.size_bytes;
    if (bytes_ > kMostWrittenBytes) {
      return InconclusiveError(
          "the process has overwritten leakgate's tables: they hold more than an address space; "
          "look for wild writes, for example with -fsanitize=address");
    }
    block.stack = Stack(block.stack);
    block.window = Window(block.window);
    block.thread = Thread(block.thread);
    writer_.Add(block);
  }
  return {};
}

void RegionRecords::Add(const MappingCopy& mapping, const MappingPages& pages) {
  writer_.Add(SnapshotMapping{.address = mapping.address,
                              .bytes = mapping.size_bytes,
                              .kind = mapping.kind,
                              .protection = mapping.protection,
                              .stack = Stack(mapping.stack),
                              .window = Window(mapping.window),
                              .thread = Thread(mapping.thread),
                              .mapped_ns = mapping.time_ns,
                              .pages = pages});
}

namespace {

// Values that do not fit into a reader's sums were overwritten by the process.
template <typename Record>
Record RecordOf(std::uint32_t stack, Amount amount, SnapshotFrees& all) {
  const auto take = [](std::int64_t part, std::uint64_t& sum) {
    const std::uint64_t taken = std::min(static_cast<std::uint64_t>(part), kMostWrittenBytes - sum);
    sum += taken;
    return taken;
  };
  return {.stack = stack,
          .bytes = take(amount.bytes, all.bytes),
          .blocks = take(amount.blocks, all.blocks)};
}

}  // namespace

void RegionRecords::Add(const FreedByCopy& freed) {
  writer_.Add(RecordOf<SnapshotFrees>(Stack(freed.stack), freed.amount, freed_));
}

void RegionRecords::AddAllocated(const FreedByCopy& allocated) {
  writer_.Add(RecordOf<SnapshotAllocations>(Stack(allocated.stack), allocated.amount, allocated_));
}

}  // namespace leakgate
