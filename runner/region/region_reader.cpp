#include "runner/region/region_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/base/path_text.h"
#include "runner/region/claimed_memory.h"
#include "runner/region/live_chunks.h"
#include "runner/region/shared_copy.h"
#include "runner/region/window_contexts.h"

namespace leakgate {

const RegionHeader& RegionReader::Header() const { return *At<RegionHeader>(0); }

RegionReader::RegionReader(const UniqueFd& fd, Mapping mapping)
    : fd_(&fd),
      mapping_(std::move(mapping)),
      chunks_(std::make_shared<LiveChunks>(fd)),
      contexts_(std::make_shared<WindowContexts>()),
      seen_(std::make_shared<SeenMemory>()) {}

Expected<RegionReader> RegionReader::Attach(const UniqueFd& fd) {
  LEAKGATE_TRY_ASSIGN(Mapping mapping,
                      Mapping::Map(fd, 0, region_offset::kChunks, MappingAccess::kReadOnly));

  RegionReader reader(fd, std::move(mapping));
  reader.pid_ = CopyOf(&reader.Header().pid);
  const std::uint64_t magic = CopyOf(&reader.Header().magic);
  const std::uint32_t version = CopyOf(&reader.Header().layout_version);
  if (magic != kRegionMagic) return InconclusiveError("the region is not leakgate's");
  if (version != kLayoutVersion) {
    return InconclusiveError("agent and runner differ in version: rebuild both");
  }
  return reader;
}

void RegionReader::ReleasePages() const {
  mapping_.ReleasePages();
  chunks_->ReleasePages();
}

bool RegionReader::IsWhole() const {
  if (seen_->is_refuted.load()) return false;
  const bool has_header = CopyOf(&Header().magic) == kRegionMagic &&
                          CopyOf(&Header().layout_version) == kLayoutVersion &&
                          CopyOf(&Header().region_bytes) == region_offset::kEnd;
  if (!has_header) return false;
  // The agent counts a window after it has begun it, and then makes it the current one, each with
  // release. So they are read in the opposite order, with acquire.
  const std::uint32_t current = CurrentWindow();
  const std::uint32_t count = Header().window_count.load(std::memory_order_acquire);
  if (count > kMaxWindows || current >= std::max(count, 1U)) return false;
  const auto* const windows = At<WindowRecord>(region_offset::kWindows);
  constexpr std::uint32_t kReadAtOnce = 8192;
  std::uint64_t text_bytes = 0;
  for (std::uint32_t id = 1; id < count; ++id) {
    if (id % kReadAtOnce == 0) mapping_.ReleasePages();
    const std::uint32_t state = Load(windows[id].state);
    if (!IsBetween(state, WindowState::kOpen, WindowState::kClosed)) return false;
    text_bytes += CopyOf(&windows[id].name).length + CopyOf(&windows[id].file).length;
  }
  // Each window has a name of its own; files' names are shared, and short.
  constexpr std::uint64_t kMostTextBytes = 8ULL * kMaxTextBytes;
  return text_bytes <= kMostTextBytes;
}

std::uint32_t RegionReader::Generation() const { return CopyOf(&Header().generation); }

std::uint32_t RegionReader::StackDepth() const { return CopyOf(&Header().stack_depth); }

bool RegionReader::StaticWasAborted() const {
  return Header().static_was_aborted.load(std::memory_order_relaxed) != 0;
}

bool RegionReader::HasOwnOperators() const { return CopyOf(&Header().has_own_operators) != 0; }

bool RegionReader::CountsTemporary() const { return CopyOf(&Header().counts_temporary) != 0; }

std::uint32_t RegionReader::StackEvents() const {
  return CopyOf(&Header().stack_events) & kKnownStackEvents;
}

// Each agent has memory of its own in the process.
bool RegionReader::HasAgent() const { return Load(Header().own_range_count) != 0; }

AgentState RegionReader::State() const {
  return EnumOr(Header().agent_state.load(std::memory_order_acquire), AgentState::kAbsent,
                AgentState::kFailed, AgentState::kFailed);
}

AgentFailure RegionReader::Failure() const {
  return static_cast<AgentFailure>(Load(Header().agent_failure));
}

BoundarySource RegionReader::Boundaries() const {
  return EnumOr(Load(Header().boundaries), BoundarySource::kNone, BoundarySource::kListener,
                BoundarySource::kNone);
}

// Acquire pairs with the agent's release: what the program did before its end has been recorded.
ProgramEnd RegionReader::End() const {
  return static_cast<ProgramEnd>(Header().program_end.load(std::memory_order_acquire));
}

std::uint64_t RegionReader::AttachedAtNs() const { return Load(Header().attached_at_ns); }

std::uint32_t RegionReader::WindowCount() const {
  return LoadCount(Header().window_count, kMaxWindows);
}

// Acquire pairs with the agent's release: the window has been counted, and its record is complete.
std::uint32_t RegionReader::CurrentWindow() const {
  return Header().current_window.load(std::memory_order_acquire);
}

std::uint64_t RegionReader::Drops(DropReason reason) const {
  return Load(Header().drops[static_cast<std::uint32_t>(reason)]);
}

std::uint64_t RegionReader::StackEnds(UnwindEnd end) const {
  return Load(Header().stack_ends[static_cast<std::uint32_t>(end)]);
}

std::string RegionReader::Text(TextRef ref) const {
  constexpr std::uint32_t kMaxLength = 1U << 16;
  if (ref.offset > kMaxTextBytes || ref.length > kMaxLength) return {};
  if (ref.length > kMaxTextBytes - ref.offset) return {};
  return {At<char>(region_offset::kText + ref.offset), ref.length};
}

WindowKind RegionReader::KindOf(std::uint32_t window) const {
  if (window == 0 || window >= WindowCount()) return WindowKind::kProgram;
  const auto* const shared = At<WindowRecord>(region_offset::kWindows) + window;
  return EnumOr(CopyOf(&shared->kind), WindowKind::kProgram, WindowKind::kTest,
                WindowKind::kProgram);
}

WindowCopy RegionReader::Window(std::uint32_t id) const {
  WindowCopy copy;
  if (id == 0 || id >= WindowCount()) return copy;

  const auto* const shared = At<WindowRecord>(region_offset::kWindows) + id;
  const std::uint32_t state = shared->state.load(std::memory_order_acquire);
  copy.id = id;
  copy.state = EnumOr(state, WindowState::kUnused, WindowState::kClosed, copy.state);
  copy.kind = KindOf(id);
  const std::uint32_t result = CopyOf(&shared->test_result);
  copy.test_result = EnumOr(result, TestResult::kUnknown, TestResult::kNotPassed, copy.test_result);
  copy.parent = CopyOf(&shared->parent);
  copy.iteration = static_cast<int>(CopyOf(&shared->iteration) & 0x7FFF'FFFF);
  copy.line = static_cast<int>(CopyOf(&shared->line) & 0x7FFF'FFFF);
  copy.name = Text(CopyOf(&shared->name));
  copy.file = WithSlashes(Text(CopyOf(&shared->file)));
  copy.begin = CopyOf(&shared->begin);
  copy.end = CopyOf(&shared->end);
  copy.peak_live_bytes = Load(shared->peak_live_bytes);
  copy.begin_time_ns = CopyOf(&shared->begin_time_ns);
  copy.end_time_ns = CopyOf(&shared->end_time_ns);
  return copy;
}

RawStack RegionReader::Stack(std::uint32_t id) const {
  RawStack stack;
  const std::uint32_t count = LoadCount(Header().stack_node_count, kMaxStackNodes);
  for (std::uint32_t at = id; at >= kStackRootCount;) {
    if (at >= count || stack.frames.size() == kMaxStackDepth) {
      stack.end = UnwindEnd::kTableFull;
      return stack;
    }
    const StackNode node = CopyOf(At<StackNode>(region_offset::kStacks) + at);
    // A node is made after its parent, and for a call.
    if (node.pc == 0 || node.parent >= at) {
      stack.end = UnwindEnd::kTableFull;
      return stack;
    }
    stack.frames.push_back({node.pc, node.module});
    at = node.parent;
    if (at < kUnwindEndCount) stack.end = static_cast<UnwindEnd>(at);
  }
  return stack;
}

std::optional<StackNodeCopy> RegionReader::Node(std::uint32_t id) const {
  const std::uint32_t count = LoadCount(Header().stack_node_count, kMaxStackNodes);
  if (id < kStackRootCount || id >= count) return std::nullopt;
  const StackNode node = CopyOf(At<StackNode>(region_offset::kStacks) + id);
  return StackNodeCopy{node.pc, node.parent, node.module};
}

Module RegionReader::ModuleOf(std::uint32_t id) const {
  Module module;
  if (id == 0 || id >= LoadCount(Header().module_count, kMaxModules)) return module;

  const ModuleRecord record = CopyOf(At<ModuleRecord>(region_offset::kModules) + id);
  module.begin = record.begin;
  module.end = record.end;
  module.bias = record.bias;
  constexpr std::size_t kMostPathBytes = 4096;  // the kernel allows no longer path
  if (record.path.length <= kMostPathBytes) module.path = WithSlashes(Text(record.path));
  const auto length = std::min<std::size_t>(record.build_id_length, sizeof(record.build_id));
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < length; ++i) {
    module.build_id += kDigits[record.build_id[i] >> 4];
    module.build_id += kDigits[record.build_id[i] & 0xF];
  }
  return module;
}

StackCounts RegionReader::CountStacks() const {
  StackCounts counts;
  const std::uint32_t count = LoadCount(Header().shard_count, kMaxShards);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& shard = At<CounterShard>(region_offset::kShards)[i];
    counts.walked += Load(shard.stacks_walked);
    counts.unprovable += Load(shard.stacks_unprovable);
    counts.frames_walked += Load(shard.frames_walked);
    counts.rules_made += Load(shard.rules_made);
  }
  return counts;
}

std::vector<ReallocatedCopy> RegionReader::ReallocatedBlocks() const {
  constexpr std::uint64_t kLimit = 1ULL << kAddressBits;
  std::vector<ReallocatedCopy> found;
  const std::uint32_t count = LoadCount(Header().shard_count, kMaxShards);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& shard = At<CounterShard>(region_offset::kShards)[i];
    // Acquire pairs with the agent's release: the size is this block's.
    const std::uint64_t address = shard.reallocated_address.load(std::memory_order_acquire);
    const std::uint64_t bytes = Load(shard.reallocated_bytes);
    const int tid = shard.owner_tid.load(std::memory_order_relaxed);
    if (address == 0 || tid == 0 || address >= kLimit || bytes > kLimit - address) continue;
    found.push_back({tid, address, bytes});
  }
  return found;
}

Totals RegionReader::CurrentTotals() const {
  Totals totals{};
  const std::uint32_t count = LoadCount(Header().shard_count, kMaxShards);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& shard = At<CounterShard>(region_offset::kShards)[i];
    totals.allocated_bytes += Load(shard.allocated.bytes);
    totals.allocated_blocks += Load(shard.allocated.blocks);
    totals.freed_bytes += Load(shard.freed_here.bytes) + Load(shard.freed_else.bytes);
    totals.freed_blocks += Load(shard.freed_here.blocks) + Load(shard.freed_else.blocks);
    totals.temporary_bytes += Load(shard.temporary.bytes);
    totals.temporary_blocks += Load(shard.temporary.blocks);
  }
  return totals;
}

}  // namespace leakgate
