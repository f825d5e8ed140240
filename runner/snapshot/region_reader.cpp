#include "runner/snapshot/region_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>

#include "common/live_slot.h"
#include "runner/snapshot/linux/data_ranges.h"

namespace leakgate {
namespace {

// Acquire pairs with the agent's release: what came before is there.
std::uint32_t LoadCount(const std::atomic<std::uint32_t>& count, std::uint32_t limit) {
  return std::min(count.load(std::memory_order_acquire), limit);
}

// A copy of a record that the other process may be writing.
template <typename T>
T CopyOf(const T* record) {
  T copy;
  std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(record), sizeof(T));
  return copy;
}

template <typename Enum>
bool IsBetween(std::uint32_t value, Enum first, Enum last) {
  return value >= static_cast<std::uint32_t>(first) && value <= static_cast<std::uint32_t>(last);
}

template <typename T>
T Load(const std::atomic<T>& value) {
  return value.load(std::memory_order_relaxed);
}

// A chunk of the live map. There is a page behind its words: reading on from the
// last of them is safe.
class LiveWords {
 public:
  explicit LiveWords(const std::byte* chunk)
      : words_(reinterpret_cast<const std::atomic<std::uint32_t>*>(chunk)) {}

  // Pairs with the agent's release: the block's other words are there, and its stack.
  std::uint32_t Acquire(std::uint64_t at) const {
    return words_[at].load(std::memory_order_acquire);
  }
  std::uint32_t Load(std::uint64_t at) const { return words_[at].load(std::memory_order_relaxed); }

  std::uint64_t SizeAt(std::uint64_t at, const LiveRest& rest) const {
    if (rest.short_size != kSizeFollows) return rest.short_size;
    return DecodeSize(Load(at + 2), Load(at + 3));
  }

 private:
  const std::atomic<std::uint32_t>* words_;
};

// A part of a chunk that holds words: [begin, end) of them, by number.
struct Stretch {
  LiveWords words;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t chunk_address;

  std::uint64_t AddressOf(std::uint64_t word) const {
    return chunk_address | (word << kGranuleShift);
  }
};

// `word` is the start word that was seen at `at`: it may have changed since.
LiveBlock BlockAt(const Stretch& stretch, std::uint64_t at, std::uint32_t word,
                  const ContextRecord& context) {
  const LiveStart start = DecodeStart(word);
  const LiveRest rest = DecodeRest(stretch.words.Load(at + 1));
  return {stretch.AddressOf(at),
          stretch.words.SizeAt(at, rest),
          start.kind,
          start.stack,
          context.window,
          context.thread,
          context.allowance};
}

constexpr std::uint64_t kWordsPerHeapPage = kHeapPageBytes >> kGranuleShift;

// glibc maps a large block by itself: it begins 16 bytes into its first page, and
// has the second to fifth word of it.
bool IsOfBlockWithOwnMapping(std::uint64_t word_of_page) {
  return word_of_page >= 1 && word_of_page <= 4;
}

}  // namespace

template <typename T>
const T* RegionReader::At(std::uint64_t offset) const {
  return reinterpret_cast<const T*>(mapping_.data() + offset);
}

const RegionHeader& RegionReader::Header() const { return *At<RegionHeader>(0); }

Expected<RegionReader> RegionReader::Attach(const UniqueFd& fd) {
  Expected<Mapping> mapping = Mapping::Map(fd, 0, region_offset::kChunks, MappingAccess::kReadOnly);
  if (!mapping) return Unexpected(mapping.error());

  RegionReader reader(fd, *std::move(mapping));
  const std::uint64_t magic = CopyOf(&reader.Header().magic);
  const std::uint32_t version = CopyOf(&reader.Header().layout_version);
  if (magic != kRegionMagic) return InconclusiveError("the region is not leakgate's");
  if (version != kLayoutVersion) {
    return InconclusiveError("agent and runner differ in version: rebuild both");
  }
  return reader;
}

AgentState RegionReader::State() const {
  const auto state = Header().agent_state.load(std::memory_order_acquire);
  return state <= static_cast<std::uint32_t>(AgentState::kFailed) ? static_cast<AgentState>(state)
                                                                  : AgentState::kFailed;
}

AgentFailure RegionReader::Failure() const {
  return static_cast<AgentFailure>(Load(Header().agent_failure));
}

BoundarySource RegionReader::Boundaries() const {
  const std::uint32_t source = Load(Header().boundaries);
  return source <= static_cast<std::uint32_t>(BoundarySource::kListener)
             ? static_cast<BoundarySource>(source)
             : BoundarySource::kNone;
}

ProgramEnd RegionReader::End() const { return static_cast<ProgramEnd>(Load(Header().program_end)); }

std::uint32_t RegionReader::WindowCount() const {
  return LoadCount(Header().window_count, kMaxWindows);
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

WindowCopy RegionReader::Window(std::uint32_t id) const {
  WindowCopy copy;
  if (id == 0 || id >= WindowCount()) return copy;

  const auto* const shared = At<WindowRecord>(region_offset::kWindows) + id;
  const std::uint32_t state = shared->state.load(std::memory_order_acquire);
  copy.id = id;
  copy.state = state <= static_cast<std::uint32_t>(WindowState::kClosed)
                   ? static_cast<WindowState>(state)
                   : WindowState::kUnused;
  const std::uint32_t kind = CopyOf(&shared->kind);
  if (kind >= static_cast<std::uint32_t>(WindowKind::kProgram) &&
      kind <= static_cast<std::uint32_t>(WindowKind::kTest)) {
    copy.kind = static_cast<WindowKind>(kind);
  }
  const std::uint32_t result = CopyOf(&shared->test_result);
  if (result <= static_cast<std::uint32_t>(TestResult::kNotPassed)) {
    copy.test_result = static_cast<TestResult>(result);
  }
  copy.parent = CopyOf(&shared->parent);
  copy.iteration = static_cast<int>(CopyOf(&shared->iteration) & 0x7FFF'FFFF);
  copy.line = static_cast<int>(CopyOf(&shared->line) & 0x7FFF'FFFF);
  copy.name = Text(CopyOf(&shared->name));
  copy.file = Text(CopyOf(&shared->file));
  copy.begin = CopyOf(&shared->begin);
  copy.end = CopyOf(&shared->end);
  copy.peak_live_bytes = Load(shared->peak_live_bytes);
  return copy;
}

RawStack RegionReader::Stack(std::uint32_t id) const {
  RawStack stack;
  const std::uint32_t count = LoadCount(Header().stack_node_count, kMaxStackNodes);
  for (std::uint32_t at = id; at >= kStackRootCount;) {
    // A cycle ends at the greatest depth, too.
    if (at >= count || stack.frames.size() == kMaxStackDepth) {
      stack.end = UnwindEnd::kTableFull;
      return stack;
    }
    const StackNode node = CopyOf(At<StackNode>(region_offset::kStacks) + at);
    stack.frames.push_back({node.pc, node.module});
    at = node.parent;
    if (at < kUnwindEndCount) stack.end = static_cast<UnwindEnd>(at);
  }
  return stack;
}

Module RegionReader::ModuleOf(std::uint32_t id) const {
  Module module;
  if (id == 0 || id >= LoadCount(Header().module_count, kMaxModules)) return module;

  const ModuleRecord record = CopyOf(At<ModuleRecord>(region_offset::kModules) + id);
  module.begin = record.begin;
  module.end = record.end;
  module.bias = record.bias;
  module.path = Text(record.path);
  const auto length = std::min<std::size_t>(record.build_id_length, sizeof(record.build_id));
  for (std::size_t i = 0; i < length; ++i) {
    module.build_id += fmt::format("{:02x}", record.build_id[i]);
  }
  return module;
}

std::uint32_t RegionReader::ThreadCount() const {
  return LoadCount(Header().thread_count, kMaxThreads);
}

ThreadCopy RegionReader::Thread(std::uint32_t id) const {
  ThreadCopy copy;
  if (id == 0 || id >= ThreadCount()) return copy;

  const auto* const shared = At<ThreadRecord>(region_offset::kThreads) + id;
  // Acquire pairs with the agent's release: the name is there.
  copy.has_ended = shared->has_ended.load(std::memory_order_acquire) != 0;
  copy.tid = CopyOf(&shared->tid);
  copy.birth_window = CopyOf(&shared->birth_window);
  copy.parent = CopyOf(&shared->parent);
  copy.origin_stack = CopyOf(&shared->origin_stack);
  copy.pointer = CopyOf(&shared->pointer);
  if (!copy.has_ended) return copy;
  std::array<char, sizeof(ThreadRecord::name)> name;
  std::memcpy(name.data(), shared->name, name.size());
  copy.name.assign(name.begin(), std::find(name.begin(), name.end(), '\0'));
  return copy;
}

std::uint32_t RegionReader::AllowanceCount() const {
  return LoadCount(Header().allowance_count, kMaxAllowances);
}

AllowanceCopy RegionReader::Allowance(std::uint32_t id) const {
  AllowanceCopy copy;
  if (id == 0 || id >= AllowanceCount()) return copy;

  const AllowanceRecord record = CopyOf(At<AllowanceRecord>(region_offset::kAllowances) + id);
  if (!IsBetween(record.kind, AllowanceKind::kScoped, AllowanceKind::kExpected)) return copy;
  copy.id = id;
  copy.kind = static_cast<AllowanceKind>(record.kind);
  copy.window = record.window;
  copy.thread = record.thread;
  copy.reason = Text(record.reason);
  copy.file = Text(record.file);
  copy.line = static_cast<int>(record.line & 0x7FFF'FFFF);
  // Less than nothing is no limit that anyone set.
  copy.bytes = std::max<std::int64_t>(record.bytes, -1);
  copy.blocks = std::max<std::int64_t>(record.blocks, -1);
  return copy;
}

std::uint32_t RegionReader::EarlierFreeCount() const { return Load(Header().earlier_free_count); }

std::vector<EarlierFreeCopy> RegionReader::EarlierFrees(std::uint32_t from) const {
  std::vector<EarlierFreeCopy> frees;
  const std::uint32_t count = LoadCount(Header().earlier_free_count, kMaxEarlierFrees);
  for (std::uint32_t i = from; i < count; ++i) {
    const auto* const shared = At<EarlierFree>(region_offset::kEarlierFrees) + i;
    // Acquire pairs with the agent's release. No window: not there yet, or taken back.
    const std::uint32_t window = __atomic_load_n(&shared->window, __ATOMIC_ACQUIRE);
    if (window == 0) continue;
    frees.push_back({CopyOf(&shared->stack), window, CopyOf(&shared->size_bytes)});
  }
  return frees;
}

std::vector<FreeErrorCopy> RegionReader::FreeErrors() const {
  std::vector<FreeErrorCopy> errors;
  const std::uint32_t count = LoadCount(Header().free_error_count, kMaxFreeErrors);
  for (std::uint32_t i = 0; i < count; ++i) {
    const FreeError record = CopyOf(At<FreeError>(region_offset::kFreeErrors) + i);
    if (!IsBetween(record.kind, FreeErrorKind::kMismatched, FreeErrorKind::kDouble)) continue;
    if (!IsBetween(record.free_kind, FreeKind::kFree, FreeKind::kDeleteArray)) continue;
    FreeErrorCopy copy;
    copy.kind = static_cast<FreeErrorKind>(record.kind);
    copy.free_kind = static_cast<FreeKind>(record.free_kind);
    if (copy.kind == FreeErrorKind::kMismatched) {
      if (!IsBetween(record.allocation_kind, AllocationKind::kMalloc, AllocationKind::kNewArray)) {
        continue;
      }
      copy.allocation_kind = static_cast<AllocationKind>(record.allocation_kind);
      copy.allocation_stack = record.allocation_stack;
    }
    copy.window = record.window;
    copy.thread = record.thread;
    copy.free_stack = record.free_stack;
    copy.address = record.address;
    copy.size_bytes = record.size_bytes;
    errors.push_back(copy);
  }
  return errors;
}

std::vector<OwnRange> RegionReader::OwnRanges() const {
  std::vector<OwnRange> ranges;
  const std::uint32_t count = LoadCount(Header().own_range_count, kMaxOwnRanges);
  for (std::uint32_t i = 0; i < count; ++i) {
    const OwnRange range = CopyOf(At<OwnRange>(region_offset::kOwnRanges) + i);
    if (range.begin < range.end) ranges.push_back(range);  // else not there yet
  }
  return ranges;
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

Totals RegionReader::CurrentTotals() const {
  Totals totals{};
  const std::uint32_t count = LoadCount(Header().shard_count, kMaxShards);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& shard = At<CounterShard>(region_offset::kShards)[i];
    totals.allocated_bytes += Load(shard.allocated.bytes);
    totals.allocated_blocks += Load(shard.allocated.blocks);
    totals.freed_bytes += Load(shard.freed_here.bytes) + Load(shard.freed_else.bytes);
    totals.freed_blocks += Load(shard.freed_here.blocks) + Load(shard.freed_else.blocks);
  }
  return totals;
}

// How many blocks to make room for at once: to grow costs the touched pages twice.
// Counters that are read while they move, or that the process has scribbled on,
// may say anything.
std::size_t RegionReader::LikelyBlocks() const {
  constexpr std::uint64_t kMost = 1U << 24;
  const Totals totals = CurrentTotals();
  if (totals.freed_blocks > totals.allocated_blocks) return 0;
  return std::min(totals.allocated_blocks - totals.freed_blocks, kMost);
}

ContextRecord RegionReader::Context(std::uint32_t id) const {
  static_assert(kMaxContexts == kContextMask + 1);
  return CopyOf(At<ContextRecord>(region_offset::kContexts) + (id & kContextMask));
}

// Calls `use(directory_index, chunk)` for each chunk, by address, until it fails.
template <typename Use>
Expected<void> RegionReader::ForEachChunk(Use use) const {
  std::bitset<kMaxChunks> seen;  // a scribbled directory may name one twice
  const FileRange directory{region_offset::kDirectory, region_offset::kChunks};
  for (const FileRange& range : DataRanges(*fd_, directory)) {
    const std::uint64_t first = (range.begin - directory.begin) / sizeof(std::uint32_t);
    const std::uint64_t last = (range.end - directory.begin) / sizeof(std::uint32_t);
    for (std::uint64_t index = first; index < last; ++index) {
      const auto* const entries = At<std::atomic<std::uint32_t>>(region_offset::kDirectory);
      const std::uint32_t entry = entries[index].load(std::memory_order_acquire);
      if (entry == 0 || entry > kMaxChunks || seen.test(entry - 1)) continue;
      seen.set(entry - 1);
      const Expected<void> used = use(index, entry - 1);
      if (!used) return Unexpected(used.error());
    }
  }
  return {};
}

// Calls `use(stretch)` for each part of a chunk that holds words.
template <typename Use>
Expected<void> RegionReader::ForEachStretch(std::uint64_t directory_index, std::uint32_t chunk,
                                            Use use) const {
  const std::uint64_t begin = region_offset::kChunks + chunk * kChunkBytes;
  const Expected<Mapping> mapping =
      Mapping::Map(*fd_, begin, kChunkBytes, MappingAccess::kReadOnly);
  if (!mapping) return Unexpected(mapping.error());
  for (const FileRange& range : DataRanges(*fd_, {begin, begin + kChunkBytes})) {
    use(Stretch{LiveWords(mapping->data()), (range.begin - begin) / sizeof(std::uint32_t),
                std::min((range.end - begin) / sizeof(std::uint32_t), kChunkWords),
                directory_index << kChunkShift});
  }
  return {};
}

Expected<std::vector<LiveBlock>> RegionReader::LiveBlocks(std::uint32_t window) const {
  std::vector<LiveBlock> found;
  found.reserve(LikelyBlocks());
  const auto scan = [&](const Stretch& stretch) {
    for (std::uint64_t i = stretch.begin; i < stretch.end; ++i) {
      const std::uint32_t word = stretch.words.Acquire(i);
      if (!IsLiveStart(word)) continue;
      const LiveRest rest = DecodeRest(stretch.words.Load(i + 1));
      const ContextRecord context = Context(rest.context);
      if (context.window != window) continue;
      found.push_back(BlockAt(stretch, i, word, context));
    }
  };
  const Expected<void> scanned = ForEachChunk(
      [&](std::uint64_t index, std::uint32_t chunk) { return ForEachStretch(index, chunk, scan); });
  if (!scanned) return Unexpected(scanned.error());
  return found;
}

Expected<HeapCopy> RegionReader::CopyHeap() const {
  HeapCopy heap;
  heap.blocks.reserve(LikelyBlocks());
  const auto scan = [&](const Stretch& stretch) {
    for (std::uint64_t page = stretch.begin; page < stretch.end; page += kWordsPerHeapPage) {
      bool is_heap = false;
      for (std::uint64_t i = 0; i < kWordsPerHeapPage; ++i) {
        const std::uint32_t word = stretch.words.Acquire(page + i);
        if (word == 0) continue;
        is_heap = is_heap || !IsOfBlockWithOwnMapping(i);
        if (!IsLiveStart(word)) continue;
        const LiveRest rest = DecodeRest(stretch.words.Load(page + i + 1));
        heap.blocks.push_back(BlockAt(stretch, page + i, word, Context(rest.context)));
      }
      if (is_heap) heap.pages.push_back(stretch.AddressOf(page));
    }
  };
  const Expected<void> scanned = ForEachChunk(
      [&](std::uint64_t index, std::uint32_t chunk) { return ForEachStretch(index, chunk, scan); });
  if (!scanned) return Unexpected(scanned.error());
  return heap;
}

}  // namespace leakgate
