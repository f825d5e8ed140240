// Implements what RegionReader says about live blocks.
#include <algorithm>
#include <bitset>

#include "common/live_slot.h"
#include "runner/base/descriptors.h"
#include "runner/base/large_pages.h"
#include "runner/region/region_reader.h"
#include "runner/region/shared_copy.h"

namespace leakgate {
namespace {

// The words of a chunk of the live map. A page follows them in the mapping, so the words that
// belong to the last start word can be read safely.
class LiveWords {
 public:
  explicit LiveWords(const std::byte* chunk)
      : words_(reinterpret_cast<const std::atomic<std::uint32_t>*>(chunk)) {}

  // Acquire pairs with the agent's release: the block's other words and its stack are complete.
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

// Makes room for `count` blocks.
void Reserve(std::vector<LiveBlock>& blocks, std::size_t count) {
  blocks.reserve(count);
  PreferLargePages(blocks.data(), blocks.capacity() * sizeof(LiveBlock));
}

// The words [begin, end) of a chunk, in a part of it that has pages.
struct Stretch {
  LiveWords words;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t chunk_address;

  std::uint64_t AddressOf(std::uint64_t word) const {
    return chunk_address | (word << kGranuleShift);
  }
};

// `word` is the start word that was read at `at`. The word there may have changed since.
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
          context.allowance,
          context.phase,
          context.is_static != 0};
}

constexpr std::uint64_t kWordsPerHeapPage = kHeapPageBytes >> kGranuleShift;

// glibc gives a large block a mapping of its own. Such a block begins 16 bytes behind the start of
// its first page, so it uses the second to fifth word of that page.
bool IsOfBlockWithOwnMapping(std::uint64_t word_of_page) {
  return word_of_page >= 1 && word_of_page <= 4;
}

}  // namespace

// Estimates how many blocks there are, so that a vector need not grow, which would touch its pages
// twice. The counters may move while they are read, or the process may have overwritten them; so
// the estimate is bounded.
std::size_t RegionReader::EstimateBlockCount() const {
  constexpr std::uint64_t kMost = 1U << 24;
  const Totals totals = CurrentTotals();
  if (totals.freed_blocks > totals.allocated_blocks) return 0;
  return std::min(totals.allocated_blocks - totals.freed_blocks, kMost);
}

ContextRecord RegionReader::Context(std::uint32_t id) const {
  static_assert(kMaxContexts == kContextMask + 1);
  return CopyOf(At<ContextRecord>(region_offset::kContexts) + (id & kContextMask));
}

// Calls `use(directory_index, chunk)` for each chunk, sorted by address, until a call fails.
template <typename Use>
Expected<void> RegionReader::ForEachChunk(Use use) const {
  std::bitset<kMaxChunks> seen;  // a directory that was overwritten may name a chunk twice
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

// Calls `use(stretch)` for each part of the chunk that has pages.
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

// Finds the live blocks for whose context `is_wanted` returns true.
template <typename IsWanted>
Expected<std::vector<LiveBlock>> RegionReader::FindBlocks(IsWanted is_wanted) const {
  std::vector<LiveBlock> found;
  Reserve(found, EstimateBlockCount());
  const auto scan = [&](const Stretch& stretch) {
    for (std::uint64_t i = stretch.begin; i < stretch.end; ++i) {
      const std::uint32_t word = stretch.words.Acquire(i);
      if (!IsLiveStart(word)) continue;
      const LiveRest rest = DecodeRest(stretch.words.Load(i + 1));
      const ContextRecord context = Context(rest.context);
      if (!is_wanted(context)) continue;
      found.push_back(BlockAt(stretch, i, word, context));
    }
  };
  const Expected<void> scanned = ForEachChunk(
      [&](std::uint64_t index, std::uint32_t chunk) { return ForEachStretch(index, chunk, scan); });
  if (!scanned) return Unexpected(scanned.error());
  return found;
}

Expected<std::vector<LiveBlock>> RegionReader::LiveBlocks(std::uint32_t window) const {
  return FindBlocks([=](const ContextRecord& context) { return context.window == window; });
}

Expected<std::vector<LiveBlock>> RegionReader::LiveBlocks(const MeasuringWindowCopy& window) const {
  return FindBlocks([&](const ContextRecord& context) {
    return context.phase >= window.first_phase && context.phase < window.end_phase &&
           (window.thread == 0 || window.thread == context.thread);
  });
}

Expected<void> RegionReader::VisitBlocks(const UseBlocks& use) const {
  constexpr std::size_t kBatch = 8192;
  std::vector<LiveBlock> batch;
  batch.reserve(kBatch);
  Expected<void> outcome;
  const auto scan = [&](const Stretch& stretch) {
    for (std::uint64_t i = stretch.begin; i < stretch.end && outcome; ++i) {
      const std::uint32_t word = stretch.words.Acquire(i);
      if (!IsLiveStart(word)) continue;
      const LiveRest rest = DecodeRest(stretch.words.Load(i + 1));
      batch.push_back(BlockAt(stretch, i, word, Context(rest.context)));
      if (batch.size() < kBatch) continue;
      outcome = use(batch);
      batch.clear();
    }
  };
  const Expected<void> scanned = ForEachChunk([&](std::uint64_t index, std::uint32_t chunk) {
    Expected<void> done = ForEachStretch(index, chunk, scan);
    return done ? outcome : done;
  });
  if (!scanned) return scanned;
  return batch.empty() ? Expected<void>() : use(batch);
}

Expected<HeapCopy> RegionReader::CopyHeap() const {
  HeapCopy heap;
  Reserve(heap.blocks, EstimateBlockCount());
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
