// Implements what RegionReader says about live blocks.
#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/live_slot.h"
#include "runner/base/descriptors.h"
#include "runner/base/time_limit.h"
#include "runner/region/claimed_memory.h"
#include "runner/region/live_chunks.h"
#include "runner/region/region_reader.h"
#include "runner/region/shared_copy.h"
#include "runner/region/window_contexts.h"
#include "runner/region/written_pages.h"

namespace leakgate {
namespace {

// The contents of a block's words.
struct WrittenBlock {
  LiveStart start;
  std::uint32_t context;
  std::uint64_t size_bytes;
};

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
  const std::byte* At(std::uint64_t at) const {
    return reinterpret_cast<const std::byte*>(words_ + at);
  }

  // Reads the block that begins at `at`, where the word `start` was read. Returns nothing if none
  // begins there, because its second granule would be the begin of another, or because it changes
  // so often that the answer cannot be found.
  std::optional<WrittenBlock> BlockAt(std::uint64_t at, std::uint32_t start) const {
    constexpr int kMostAttempts = 100;
    for (int i = 0; i < kMostAttempts && IsLiveStart(start); ++i) {
      const std::uint32_t rest = Acquire(at + 1);  // before the size is read
      const std::uint64_t size_bytes = SizeAt(at, DecodeRest(rest));
      // Pairs with the agent's releases of these words: if they belong to another block, it is seen
      // now that this one has gone.
      std::atomic_thread_fence(std::memory_order_acquire);
      const std::uint32_t start_now = Acquire(at);
      if (start_now == start && Load(at + 1) == rest) {
        if (IsLiveStart(rest)) return std::nullopt;
        return WrittenBlock{DecodeStart(start), DecodeRest(rest).context, size_bytes};
      }
      start = start_now;
    }
    return std::nullopt;
  }

 private:
  std::uint64_t SizeAt(std::uint64_t at, const LiveRest& rest) const {
    if (rest.short_size != kSizeFollows) return rest.short_size;
    return DecodeSize(Load(at + 2), Load(at + 3));
  }

  const std::atomic<std::uint32_t>* words_;
};

// The words [begin, end) of a chunk, in a part of it that has pages.
struct Stretch {
  LiveWords words;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t chunk_address;

  std::uint64_t AddressOf(std::uint64_t word) const {
    return chunk_address | (word / kWordsPerGranule << kGranuleShift);
  }
};

constexpr std::uint32_t kMostPhases = ~std::uint32_t{0} >> 1;  // as many as a LiveBlock can tell

// Of a pool's block, the address is its place yet.
LiveBlock BlockOf(std::uint64_t address, const WrittenBlock& written,
                  const ContextRecord& context) {
  const bool is_pooled = IsPoolPlace(address);
  return {.address = address,
          .size_bytes = written.size_bytes,
          .kind = is_pooled ? AllocationKind::kPool : WithoutChunk(written.start.kind),
          .may_be_chunk = IsChunkKind(written.start.kind),
          .pool = is_pooled ? context.pool : std::uint16_t{0},
          .stack = written.start.stack,
          .window = context.window,
          .thread = context.thread,
          .allowance = context.allowance,
          .phase = context.phase & kMostPhases,
          .is_static = context.is_static != 0};
}

constexpr std::uint64_t kWordsPerHeapPage = (kHeapPageBytes >> kGranuleShift) * kWordsPerGranule;

// Returns how many words of the map, from the first one on, are of addresses before `address`.
constexpr std::uint64_t WordsBefore(std::uint64_t address) {
  return (address >> kGranuleShift) * kWordsPerGranule;
}

// Whether the words inside live blocks are read. Nothing begins there, unless the process has
// written a wrong size, or an allocator has divided the block into blocks of its own: then all of
// the live map must be read.
enum class InsideOfBlocks { kPassOver, kRead };

// Reads the words of the live map by address, stretch by stretch.
class LiveScan {
 public:
  explicit LiveScan(InsideOfBlocks inside) : inside_(inside) {}

  // Calls `use(at, word)` for each word in [begin, end) that is not zero and not within a live
  // block. `use` returns the size of the block that begins there; nothing if none does.
  template <typename Use>
  void ForEachWord(const Stretch& stretch, std::uint64_t begin, std::uint64_t end, Use use) {
    for (std::uint64_t at = begin + WordsPassed(stretch, begin); at < end;) {
      const std::uint32_t word = stretch.words.Acquire(at);
      const std::optional<std::uint64_t> size = word != 0 ? use(at, word) : std::nullopt;
      if (!size) {
        ++at;
        continue;
      }
      ++blocks_;
      const std::uint64_t address = stretch.AddressOf(at);
      if (inside_ == InsideOfBlocks::kPassOver) passed_until_ = address + *size;
      at += std::max<std::uint64_t>(WordsPassed(stretch, at), 1);
    }
  }

  // Returns how many words from `at` on are of the block that was read last.
  [[nodiscard]] std::uint64_t WordsPassed(const Stretch& stretch, std::uint64_t at) const {
    const std::uint64_t address = stretch.AddressOf(at);
    if (passed_until_ <= address) return 0;
    constexpr std::uint64_t kRoundUp = (1U << kGranuleShift) - 1;
    return WordsBefore(passed_until_ - address + kRoundUp);
  }

  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }

 private:
  const InsideOfBlocks inside_;
  std::uint64_t passed_until_ = 0;  // an address
  std::uint64_t blocks_ = 0;
};

// glibc gives a large block a mapping of its own. Such a block begins 16 bytes behind the start of
// its first page, so it uses the second to fifth word of that page.
bool IsOfBlockWithOwnMapping(std::uint64_t word_of_page) {
  return word_of_page >= 1 && word_of_page <= 4;
}

// Calls `read(scan)`, which returns what it has found, with a scan that skips the words inside
// blocks. If that may have missed a block, by the process's own counts, calls it again with a scan
// that skips nothing.
template <typename Read>
auto ReadQuickly(const RegionReader& region, Read read)
    -> decltype(read(std::declval<LiveScan&>())) {
  LiveScan scan(InsideOfBlocks::kPassOver);
  auto found = read(scan);
  const Totals totals = region.CurrentTotals();
  if (!found || scan.blocks() == totals.allocated_blocks - totals.freed_blocks) return found;
  { const auto given_back = std::move(found); }  // frees its memory for the next one
  LiveScan whole(InsideOfBlocks::kRead);
  return read(whole);
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

std::uint32_t RegionReader::WindowOfContext(std::uint32_t context) const {
  return context < kMaxContexts ? Context(context).window : 0;
}

// Returns the chunk's number plus 1; 0 if there is none.
std::uint32_t RegionReader::ChunkAt(std::uint64_t directory_index) const {
  if (directory_index >= kDirectoryEntries) return 0;
  const auto* const entries = At<std::atomic<std::uint32_t>>(region_offset::kDirectory);
  const std::uint32_t entry = entries[directory_index].load(std::memory_order_acquire);
  return entry > kMaxChunks ? 0 : entry;
}

// Calls `use(directory_index, chunk)` for each chunk, sorted by address, until a call fails.
template <typename Use>
Expected<void> RegionReader::ForEachChunk(Use use) const {
  std::bitset<kMaxChunks> seen;  // a directory that was overwritten may name a chunk twice
  const FileRange directory{region_offset::kDirectory, region_offset::kChunks};
  for (const FileRange& range : WrittenPages(*fd_).Find(directory)) {
    const std::uint64_t first = (range.begin - directory.begin) / sizeof(std::uint32_t);
    const std::uint64_t last = (range.end - directory.begin) / sizeof(std::uint32_t);
    for (std::uint64_t index = first; index < last; ++index) {
      const std::uint32_t entry = ChunkAt(index);
      if (entry == 0 || seen.test(entry - 1)) continue;
      seen.set(entry - 1);
      CheckTime();
      LEAKGATE_TRY(use(index, entry - 1));
    }
  }
  return {};
}

// Calls `use(stretch)` for each part of the chunk that has pages.
template <typename Use>
Expected<void> RegionReader::ForEachStretch(std::uint64_t directory_index, std::uint32_t chunk,
                                            Use use, Pages pages) const {
  LEAKGATE_TRY_ASSIGN(const LiveChunk known,
                      pages == Pages::kNow ? chunks_->Get(chunk) : chunks_->GetAsKnown(chunk));
  const std::uint64_t begin = region_offset::kChunks + chunk * kChunkBytes;
  for (const FileRange& range : *known.data) {
    use(Stretch{LiveWords(known.mapping->data()), (range.begin - begin) / sizeof(std::uint32_t),
                std::min((range.end - begin) / sizeof(std::uint32_t), kChunkWords),
                directory_index << kChunkShift});
  }
  return {};
}

// Calls `use(stretch)` for each part of the chunk at this place of the directory, if there is one.
template <typename Use>
Expected<void> RegionReader::ReadChunk(std::uint64_t directory_index, Pages pages, Use use) const {
  const std::uint32_t chunk = ChunkAt(directory_index);
  return chunk == 0 ? Expected<void>() : ForEachStretch(directory_index, chunk - 1, use, pages);
}

// Calls `use(stretch)`, which counts blocks with `scan`, for all parts of the map that have pages,
// sorted by address. Fails if there cannot be so many blocks.
template <typename Scan, typename Use>
Expected<void> RegionReader::ReadMap(Scan& scan, Use use) const {
  const Totals totals = CurrentTotals();
  ClaimedMemory claimed(pid_, totals.allocated_blocks - totals.freed_blocks, seen_);
  const Expected<void> read = ForEachChunk([&](std::uint64_t index, std::uint32_t chunk) {
    const std::uint64_t before = scan.blocks();
    const Expected<void> scanned = ForEachStretch(index, chunk, use);
    if (!scanned) return scanned;
    const auto count_again = [&] {
      LiveScan again(InsideOfBlocks::kPassOver);
      (void)ForEachStretch(index, chunk, [&](const Stretch& stretch) {
        const auto count = [&](std::uint64_t at, std::uint32_t word) {
          const auto written = stretch.words.BlockAt(at, word);
          return written ? std::optional(written->size_bytes) : std::nullopt;
        };
        again.ForEachWord(stretch, stretch.begin, stretch.end, count);
      });
      return again.blocks();
    };
    const std::uint64_t first = index << kChunkShift;
    const bool is_possible = IsPoolPlace(first) ? claimed.AddPooled(scan.blocks() - before)
                                                : claimed.Add(first, 1ULL << kChunkShift,
                                                              scan.blocks() - before, count_again);
    return is_possible ? Expected<void>() : InconclusiveError(DamageText());
  });
  if (read) claimed.NoteAll();
  return read;
}

// Calls `use(address, written)` for each live block, by address.
template <typename Scan, typename Use>
Expected<void> RegionReader::ForEachBlock(Scan& scan, Use use) const {
  return ReadMap(scan, [&](const Stretch& stretch) {
    scan.ForEachWord(stretch, stretch.begin, stretch.end,
                     [&](std::uint64_t at, std::uint32_t word) -> std::optional<std::uint64_t> {
                       const auto written = stretch.words.BlockAt(at, word);
                       if (!written) return std::nullopt;
                       use(stretch.AddressOf(at), *written);
                       return written->size_bytes;
                     });
  });
}

namespace {

bool IsBefore(const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; }

// Returns whether one of the blocks of pools, which are sorted by address, is in the block.
bool IsChunk(const LiveBlock& block, std::span<const LiveBlock> pooled) {
  if (block.pool == 0 && !block.may_be_chunk) return false;
  const std::uint64_t first = block.address + (block.pool != 0 ? 1 : 0);
  const auto found = std::lower_bound(
      pooled.begin(), pooled.end(), first,
      [](const LiveBlock& at, std::uint64_t address) { return at.address < address; });
  return found != pooled.end() && found->address - block.address < block.size_bytes;
}

// Adds the blocks of pools to the heap's, and moves out those that are chunks: an outer one comes
// before an inner one.
void AddPooled(std::span<const LiveBlock> pooled, HeapCopy& heap) {
  std::vector<LiveBlock> merged;
  merged.reserve(heap.blocks.size() + pooled.size());
  std::merge(heap.blocks.begin(), heap.blocks.end(), pooled.begin(), pooled.end(),
             std::back_inserter(merged), IsBefore);
  const auto is_chunk = [&](const LiveBlock& block) { return IsChunk(block, pooled); };
  std::copy_if(merged.begin(), merged.end(), std::back_inserter(heap.chunks), is_chunk);
  std::erase_if(merged, is_chunk);
  heap.blocks = std::move(merged);
}

constexpr std::uint64_t kWordsPerMapPage = 1024;
constexpr std::uint64_t kPagesOfChunk = kChunkWords / kWordsPerMapPage;

// What the words of a page of the map tell, before any block is read.
struct PageGlance {
  std::uint32_t starts = 0;
  bool may_have_wanted = false;
};

// Tells whether a rest word of the page may have one of the wanted contexts. Each block has its
// context there, so where none has, no block need be read. The compiler does it by vectors.
PageGlance GlanceAt(const std::byte* page, ContextRange wanted) {
  std::array<std::uint32_t, kWordsPerMapPage> words;
  std::memcpy(words.data(), page, sizeof(words));
  const std::uint32_t span = wanted.last - wanted.first;
  std::uint32_t starts = 0;
  std::uint32_t hits = 0;
  for (const std::uint32_t word : words) {
    starts += word >> 31;
    hits += (word & (kLiveStartBit | kContextMask)) - wanted.first <= span ? 1 : 0;
  }
  return {starts, hits != 0};
}

// Counts the blocks that a search for some of them has passed.
class GlanceCount {
 public:
  void Add(std::uint64_t blocks) { blocks_ += blocks; }
  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }

 private:
  std::uint64_t blocks_ = 0;
};

// Reads the blocks that begin in [begin, end) of a stretch, also those within others, and calls
// `use(block)` for those whose contexts are in `range`.
template <typename GetContext, typename Use>
void ReadWords(const Stretch& stretch, std::uint64_t begin, std::uint64_t end, ContextRange range,
               const GetContext& get_context, const Use& use) {
  for (std::uint64_t at = begin; at < end; ++at) {
    const std::uint32_t word = stretch.words.Acquire(at);
    if (!IsLiveStart(word)) continue;
    const auto written = stretch.words.BlockAt(at, word);
    if (!written || !range.Has(written->context)) continue;
    use(BlockOf(stretch.AddressOf(at), *written, get_context(written->context)));
  }
}

// Does so for the pages of the stretch in [begin, end), and skips those that have none. All words
// before `next` have been read; it is moved on.
template <typename GetContext, typename Use>
void ReadPages(const Stretch& stretch, std::uint64_t begin, std::uint64_t end, ContextRange range,
               GlanceCount& count, std::uint64_t& next, const GetContext& get_context,
               const Use& use) {
  for (std::uint64_t page = begin; page < end; page += kWordsPerMapPage) {
    const std::uint64_t behind = page + kWordsPerMapPage;
    const PageGlance glance = GlanceAt(stretch.words.At(page), range);
    count.Add(glance.starts);
    // A block at a page's end has its context in the next one: behind the chunk, in none.
    if (!glance.may_have_wanted && behind != kChunkWords) continue;
    const std::uint64_t from = page == stretch.begin ? page : page - 1;
    ReadWords(stretch, std::max(next, from), behind, range, get_context, use);
    next = behind;
  }
}

}  // namespace

// Finds the live blocks whose contexts are in `range`, and that are wanted. Blocks within blocks
// are found as well.
template <typename IsWanted>
Expected<std::vector<LiveBlock>> RegionReader::FindBlocks(ContextRange range,
                                                          std::uint64_t expected,
                                                          IsWanted is_wanted) const {
  std::vector<LiveBlock> found;
  if (range.IsEmpty()) return found;
  found.reserve(std::min<std::uint64_t>(expected, EstimateBlockCount()));
  GlanceCount count;
  const auto get_context = [&](std::uint32_t context) { return Context(context); };
  const auto use = [&](const LiveBlock& block) {
    if (is_wanted(block)) found.push_back(block);
  };
  const auto read = [&](const Stretch& stretch) {
    std::uint64_t next = stretch.begin;
    ReadPages(stretch, stretch.begin, stretch.end, range, count, next, get_context, use);
  };
  LEAKGATE_TRY(ReadMap(count, read));
  return found;
}

std::uint32_t RegionReader::PoolAreaCount() const {
  return std::min(Header().pool_area_count.load(std::memory_order_acquire), kMaxPoolAreas);
}

std::unordered_map<std::uint64_t, std::uint32_t> RegionReader::PoolAreas() const {
  std::unordered_map<std::uint64_t, std::uint32_t> areas;
  const auto* const entries = At<std::atomic<std::uint64_t>>(region_offset::kPoolAreas);
  for (std::uint32_t area = 0; area < PoolAreaCount(); ++area) {
    const std::uint64_t number = entries[area].load(std::memory_order_relaxed);
    if (number != 0) areas.emplace(number - 1, area);
  }
  return areas;
}

std::uint64_t RegionReader::AddressAt(std::uint64_t place) const {
  constexpr std::uint64_t kMost = (1ULL << kAddressBits) / kPoolAreaBytes;
  const auto* const entries = At<std::atomic<std::uint64_t>>(region_offset::kPoolAreas);
  const std::uint64_t number =
      entries[AreaOfPlace(place) % kMaxPoolAreas].load(std::memory_order_relaxed);
  return (std::clamp<std::uint64_t>(number, 1, kMost) - 1) * kPoolAreaBytes + OffsetOfPlace(place);
}

Expected<std::vector<LiveBlock>> RegionReader::PoolBlocks() const {
  std::vector<LiveBlock> blocks;
  const Totals totals = CurrentTotals();
  ClaimedMemory claimed(pid_, totals.allocated_blocks - totals.freed_blocks, seen_);
  const std::uint64_t end = kPoolPlaces + PoolAreaCount() * kPoolAreaPlaces;
  for (std::uint64_t place = kPoolPlaces; place < end; place += 1ULL << kChunkShift) {
    const std::size_t before = blocks.size();
    LEAKGATE_TRY(ReadChunk(place >> kChunkShift, Pages::kNow, [&](const Stretch& stretch) {
      for (std::uint64_t at = stretch.begin; at < stretch.end; ++at) {
        const std::uint32_t word = stretch.words.Acquire(at);
        const auto written = IsLiveStart(word) ? stretch.words.BlockAt(at, word) : std::nullopt;
        if (!written) continue;
        const std::uint64_t of_block = stretch.AddressOf(at);
        blocks.push_back(BlockOf(of_block, *written, Context(written->context)));
        blocks.back().address = AddressAt(of_block);
      }
    }));
    const std::size_t more = blocks.size() - before;
    if (more != 0 && !claimed.AddPooled(more)) return InconclusiveError(DamageText());
  }
  std::sort(blocks.begin(), blocks.end(), IsBefore);
  return blocks;
}

Expected<std::vector<LiveBlock>> RegionReader::Settled(std::vector<LiveBlock> blocks) const {
  if (!HasPools()) return blocks;
  for (LiveBlock& block : blocks) {
    if (IsPoolPlace(block.address)) block.address = AddressAt(block.address);
  }
  const bool has_any = std::any_of(blocks.begin(), blocks.end(), [](const LiveBlock& block) {
    return block.pool != 0 || block.may_be_chunk;
  });
  if (!has_any) return blocks;
  LEAKGATE_TRY_ASSIGN(const std::vector<LiveBlock> pooled, PoolBlocks());
  std::erase_if(blocks, [&](const LiveBlock& block) { return IsChunk(block, pooled); });
  std::sort(blocks.begin(), blocks.end(), IsBefore);
  return blocks;
}

Expected<std::vector<LiveSum>> RegionReader::SumBlocks() const {
  if (HasPools()) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Amount> sums;
    LEAKGATE_TRY(VisitBlocks([&](std::span<const LiveBlock> blocks) -> Expected<void> {
      for (const LiveBlock& block : blocks) {
        sums[{block.stack, block.window, block.allowance}] +=
            Amount{static_cast<std::int64_t>(block.size_bytes), 1};
      }
      return {};
    }));
    std::vector<LiveSum> found;
    found.reserve(sums.size());
    for (const auto& [key, amount] : sums) {
      found.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), amount});
    }
    return found;
  }
  return ReadQuickly(*this, [&](LiveScan& scan) -> Expected<std::vector<LiveSum>> {
    std::unordered_map<std::uint64_t, Amount> sums;  // by stack and context
    Amount* last = nullptr;
    std::uint64_t last_key = 0;
    LEAKGATE_TRY(ForEachBlock(scan, [&](std::uint64_t, const WrittenBlock& written) {
      const std::uint64_t key = std::uint64_t{written.start.stack} << 32 | written.context;
      if (last == nullptr || key != last_key) last = &sums[last_key = key];
      *last += Amount{static_cast<std::int64_t>(written.size_bytes), 1};
    }));
    std::vector<LiveSum> found;
    found.reserve(sums.size());
    for (const auto& [key, amount] : sums) {
      const ContextRecord context = Context(static_cast<std::uint32_t>(key));
      found.push_back({.stack = static_cast<std::uint32_t>(key >> 32),
                       .window = context.window,
                       .allowance = context.allowance,
                       .amount = amount});
    }
    return found;
  });
}

Expected<std::vector<LiveBlock>> RegionReader::StillLive(std::span<const LiveBlock> blocks) const {
  std::vector<LiveBlock> live;
  std::optional<LiveChunk> chunk;
  std::uint64_t index = ~std::uint64_t{0};
  const std::unordered_map<std::uint64_t, std::uint32_t> areas = PoolAreas();
  for (const LiveBlock& block : blocks) {
    std::uint64_t place = block.address;
    if (block.pool != 0) {
      const auto area = areas.find(block.address / kPoolAreaBytes);
      if (area == areas.end()) continue;
      place = PlaceInArea(area->second, block.address % kPoolAreaBytes);
    }
    if (place >> kChunkShift != index) {
      index = place >> kChunkShift;
      chunk.reset();
      const std::uint32_t entry = ChunkAt(index);
      if (entry != 0) {
        LEAKGATE_TRY_ASSIGN(chunk, chunks_->GetAsKnown(entry - 1));
      }
    }
    if (!chunk) continue;
    const LiveWords words(chunk->mapping->data());
    const std::uint64_t at = WordsBefore(place & ((1ULL << kChunkShift) - 1));
    const auto written = words.BlockAt(at, words.Acquire(at));
    if (!written) continue;
    const LiveBlock now = BlockOf(place, *written, Context(written->context));
    const bool is_same = now.stack == block.stack && now.window == block.window &&
                         now.size_bytes == block.size_bytes;
    if (!is_same) continue;
    live.push_back(block);
    live.back().may_be_chunk = now.may_be_chunk;
  }
  return Settled(std::move(live));
}

Expected<std::optional<LiveBlock>> RegionReader::BlockBefore(std::uint64_t address) const {
  constexpr std::uint64_t kMost = (kFarthestBefore >> kGranuleShift) * kWordsPerGranule;
  const std::uint64_t index = address >> kChunkShift;
  const std::uint32_t entry = ChunkAt(index);
  if (entry == 0) return std::nullopt;
  LEAKGATE_TRY_ASSIGN(const LiveChunk chunk, chunks_->GetAsKnown(entry - 1));
  const LiveWords words(chunk.mapping->data());
  const std::uint64_t last = WordsBefore(address & ((1ULL << kChunkShift) - 1));
  for (std::uint64_t passed = 0; passed <= last && passed < kMost; passed += kWordsPerGranule) {
    const std::uint64_t at = last - passed;
    const auto written = words.BlockAt(at, words.Acquire(at));
    if (!written) continue;
    const std::uint64_t begin = index << kChunkShift | at / kWordsPerGranule << kGranuleShift;
    return BlockOf(begin, *written, Context(written->context));
  }
  return std::nullopt;
}

namespace {

// How many blocks a window has by the agent's counts.
struct CountOfWindow {
  std::uint64_t blocks = 0;
  std::uint64_t events = 0;  // changes whenever a count does
  int threads = 0;           // that may allocate and free

  friend bool operator==(const CountOfWindow&, const CountOfWindow&) = default;
};

CountOfWindow CountBlocks(const WindowRecord& record, std::uint32_t window,
                          std::span<const CounterShard> shards) {
  CountOfWindow count{static_cast<std::uint64_t>(Load(record.live_blocks))};
  for (const CounterShard& shard : shards) {
    const std::uint64_t allocated = Load(shard.allocated.blocks);
    const std::uint64_t freed_here = Load(shard.freed_here.blocks);
    count.events += allocated + freed_here + Load(shard.freed_else.blocks) + Load(shard.sequence);
    count.threads += Load(shard.owner_tid) != 0 ? 1 : 0;
    if (Load(shard.window) != window) continue;
    count.blocks += allocated - Load(shard.allocated_before.blocks);
    count.blocks -= freed_here - Load(shard.freed_here_before.blocks);
  }
  return count;
}

constexpr std::uint64_t kPagesBehind = 4096;  // of 64 MiB of heap
constexpr std::uint64_t kPagesAtOnce = 64;

// The pages of the map in which blocks are, and those around them, where allocators go on.
// Where these are too many, those around the last block are returned: the heap may grow from there.
std::set<std::uint64_t> PagesAround(std::span<const LiveBlock> blocks) {
  constexpr std::size_t kMost = 256;
  std::set<std::uint64_t> pages;
  for (const LiveBlock& block : blocks) {
    const std::uint64_t page = WordsBefore(block.address) / kWordsPerMapPage;
    for (std::uint64_t near = page - (page != 0 ? 1 : 0); near <= page + 1; ++near) {
      pages.insert(near);
    }
    if (pages.size() > kMost) return PagesAround(blocks.last(1));
  }
  return pages;
}

}  // namespace

// Tests leave their blocks where the tests before them did, so the pages there are read first. If
// they have as many blocks as the agent has counted, there are no others: that is as sure as a test
// that passes because nothing of it is counted. Where other threads may be about to count one, all
// pages are read.
Expected<std::vector<LiveBlock>> RegionReader::LiveBlocks(std::uint32_t window) const {
  const ContextRange contexts =
      contexts_->Of(window, At<ContextRecord>(region_offset::kContexts),
                    Header().context_count.load(std::memory_order_relaxed));
  const auto is_wanted = [=](const LiveBlock& block) { return block.window == window; };
  const auto count_now = [&] {
    return CountBlocks(
        At<WindowRecord>(region_offset::kWindows)[window % kMaxWindows], window,
        {At<CounterShard>(region_offset::kShards), LoadCount(Header().shard_count, kMaxShards)});
  };
  const CountOfWindow count = count_now();
  std::vector<LiveBlock> near;
  const auto get_context = [&](std::uint32_t context) { return Context(context); };
  const auto use = [&](const LiveBlock& block) {
    if (is_wanted(block)) near.push_back(block);
  };
  GlanceCount glanced;
  const auto search = [&](std::span<const std::uint64_t> pages) -> Expected<void> {
    for (auto page = pages.begin(); page != pages.end();) {
      const std::uint64_t index = *page / kPagesOfChunk;
      const auto end = std::lower_bound(page, pages.end(), (index + 1) * kPagesOfChunk);
      std::uint64_t next = 0;
      const auto read = [&](const Stretch& stretch) {
        for (auto at = page; at != end; ++at) {
          const std::uint64_t word = *at % kPagesOfChunk * kWordsPerMapPage;
          if (word < stretch.begin || word >= stretch.end) continue;
          ReadPages(stretch, word, word + kWordsPerMapPage, contexts, glanced, next, get_context,
                    use);
        }
      };
      LEAKGATE_TRY(ReadChunk(index, Pages::kKnown, read));
      page = end;
    }
    return {};
  };
  const SearchedFirst pages = chunks_->PagesSearchedFirst();
  LEAKGATE_TRY(search(pages.newest));
  if (near.size() < count.blocks) LEAKGATE_TRY(search(pages.others));
  // Behind them, the heap may have grown.
  std::uint64_t page = pages.last + 1;
  const bool may_be_behind = !pages.newest.empty() && count.threads == 1;
  const std::uint64_t last = may_be_behind ? page + kPagesBehind : page;
  while (page < last && near.size() < count.blocks) {
    const std::uint64_t chunk_end = (page / kPagesOfChunk + 1) * kPagesOfChunk;
    std::uint64_t next = page % kPagesOfChunk * kWordsPerMapPage;
    const auto read = [&](const Stretch& stretch) {
      std::uint64_t word = std::max(page % kPagesOfChunk * kWordsPerMapPage, stretch.begin);
      while (word < stretch.end && near.size() < count.blocks) {
        const std::uint64_t end = std::min(word + kPagesAtOnce * kWordsPerMapPage, stretch.end);
        ReadPages(stretch, word, end, contexts, glanced, next, get_context, use);
        word = end;
      }
    };
    LEAKGATE_TRY(ReadChunk(page / kPagesOfChunk, Pages::kNow, read));
    page = chunk_end;
  }
  // A block at a page's end may have been found twice.
  std::sort(near.begin(), near.end(),
            [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
  const auto is_same = [](const LiveBlock& a, const LiveBlock& b) {
    return a.address == b.address;
  };
  near.erase(std::unique(near.begin(), near.end(), is_same), near.end());
  const bool has_all = count.threads == 1 && !near.empty() && count.blocks == near.size();
  if (has_all && count == count_now()) {
    chunks_->SearchFirst(PagesAround(near));
    return Settled(std::move(near));
  }

  LEAKGATE_TRY_ASSIGN(std::vector<LiveBlock> found, FindBlocks(contexts, count.blocks, is_wanted));
  chunks_->SearchFirst(PagesAround(found));
  return Settled(std::move(found));
}

Expected<std::vector<LiveBlock>> RegionReader::LiveBlocks(const MeasuringWindowCopy& window) const {
  LEAKGATE_TRY_ASSIGN(std::vector<LiveBlock> found,
                      FindBlocks({0, kMaxContexts - 1}, 0, [&](const LiveBlock& block) {
                        return block.phase >= window.first_phase &&
                               block.phase < window.end_phase &&
                               (window.thread == 0 || window.thread == block.thread);
                      }));
  return Settled(std::move(found));
}

Expected<void> RegionReader::VisitBlocks(const UseBlocks& use, Pools pools) const {
  constexpr std::size_t kBatch = 8192;
  std::vector<LiveBlock> pooled;
  if (pools == Pools::kVisited) {
    LEAKGATE_TRY_ASSIGN(pooled, PoolBlocks());
  }
  auto next = pooled.begin();
  std::vector<LiveBlock> batch;
  batch.reserve(kBatch);
  Expected<void> outcome;
  const auto add = [&](const LiveBlock& block) {
    if (!outcome || IsChunk(block, pooled)) return;
    batch.push_back(block);
    if (batch.size() < kBatch) return;
    outcome = use(batch);
    batch.clear();
  };
  const auto add_pooled_before = [&](std::uint64_t address) {
    for (; next != pooled.end() && next->address < address; ++next) add(*next);
  };
  const auto scan = [&](const Stretch& stretch) {
    for (std::uint64_t i = stretch.begin; i < stretch.end && outcome; ++i) {
      const auto written = stretch.words.BlockAt(i, stretch.words.Acquire(i));
      if (!written) continue;
      const LiveBlock block = BlockOf(stretch.AddressOf(i), *written, Context(written->context));
      add_pooled_before(block.address);
      add(block);
    }
  };
  const Expected<void> scanned = ForEachChunk([&](std::uint64_t index, std::uint32_t chunk) {
    if (IsPoolPlace(index << kChunkShift)) return outcome;
    Expected<void> done = ForEachStretch(index, chunk, scan);
    return done ? outcome : done;
  });
  if (!scanned) return scanned;
  add_pooled_before(~std::uint64_t{0});
  if (!outcome) return outcome;
  return batch.empty() ? Expected<void>() : use(batch);
}

// A page that lies wholly within a live block is not returned, because the block is not a root.
Expected<HeapCopy> RegionReader::CopyHeap() const {
  return ReadQuickly(*this, [&](LiveScan& scan) -> Expected<HeapCopy> {
    HeapCopy heap;
    heap.blocks.reserve(EstimateBlockCount());
    const auto read = [&](const Stretch& stretch) {
      const auto add = [&](std::uint64_t at, std::uint32_t word) -> std::optional<std::uint64_t> {
        const auto written = stretch.words.BlockAt(at, word);
        if (!written) return std::nullopt;
        heap.blocks.push_back(BlockOf(stretch.AddressOf(at), *written, Context(written->context)));
        return written->size_bytes;
      };
      if (IsPoolPlace(stretch.chunk_address)) {
        scan.ForEachWord(stretch, stretch.begin, stretch.end, add);
        return;
      }
      for (std::uint64_t page = stretch.begin; page < stretch.end;) {
        const std::uint64_t within = scan.WordsPassed(stretch, page);
        if (within >= kWordsPerHeapPage) {
          page += within / kWordsPerHeapPage * kWordsPerHeapPage;
          continue;
        }
        const auto is_of_heap = [&](std::uint64_t at) {
          return !IsOfBlockWithOwnMapping(at - page);
        };
        bool is_heap = false;
        const std::uint64_t end = page + kWordsPerHeapPage;
        scan.ForEachWord(stretch, page, end, [&](std::uint64_t at, std::uint32_t word) {
          is_heap = is_heap || is_of_heap(at);
          return add(at, word);
        });
        // Blocks may have begun where the last part of an earlier one is now.
        for (std::uint64_t at = page; !is_heap && at < page + within; ++at) {
          is_heap = stretch.words.Load(at) != 0 && is_of_heap(at);
        }
        if (is_heap) heap.pages.push_back(stretch.AddressOf(page));
        page = end;
      }
    };
    LEAKGATE_TRY(ReadMap(scan, read));
    if (HasPools()) {
      const auto first =
          std::stable_partition(heap.blocks.begin(), heap.blocks.end(),
                                [](const LiveBlock& block) { return !IsPoolPlace(block.address); });
      std::vector<LiveBlock> pooled(first, heap.blocks.end());
      heap.blocks.erase(first, heap.blocks.end());
      for (LiveBlock& block : pooled) block.address = AddressAt(block.address);
      std::sort(pooled.begin(), pooled.end(), IsBefore);
      AddPooled(pooled, heap);
    }
    constexpr std::size_t kMany = 200'000;  // a caller of so many needs the memory
    if (heap.blocks.size() > kMany) chunks_->ReleasePages();
    return heap;
  });
}

}  // namespace leakgate
