#include "plugin/agent/live_map.h"

#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

// Where this process has mapped each chunk, by the directory's index. Sparse.
std::atomic<std::atomic<std::uint64_t>*> g_chunks[kDirectoryEntries];

constexpr std::uint64_t kAddressLimit = 1ULL << kAddressBits;
constexpr std::uint64_t kGranuleMask = (1ULL << kGranuleShift) - 1;

std::uint64_t WordIndex(std::uint64_t address) {
  return (address >> kGranuleShift) & (kChunkWords - 1);
}

}  // namespace

constinit LiveMap g_live_map;

void LiveMap::Start(void* first_chunk) { last_chunk_ = static_cast<Word*>(first_chunk); }

LiveMap::Word* LiveMap::Slot(std::uint64_t address) const {
  if (address >= kAddressLimit || (address & kGranuleMask) != 0) return nullptr;
  // Acquire pairs with the release in MapChunk.
  Word* const chunk = g_chunks[address >> kChunkShift].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + WordIndex(address);
}

LiveMap::Word* LiveMap::SlotOrNewChunk(std::uint64_t address) {
  Word* const slot = Slot(address);
  if (slot != nullptr) return slot;
  if (address >= kAddressLimit) {
    g_region.Drop(DropReason::kAddressRange);
    return nullptr;
  }
  if ((address & kGranuleMask) != 0) {
    g_region.Drop(DropReason::kUnaligned);
    return nullptr;
  }
  Word* const chunk = MapChunk(address >> kChunkShift);
  if (chunk == nullptr) {
    g_region.Drop(DropReason::kMapFull);
    return nullptr;
  }
  return chunk + WordIndex(address);
}

LiveMap::Word* LiveMap::MapChunk(std::uint64_t directory_index) {
  const SpinGuard guard(lock_);
  Word* chunk = g_chunks[directory_index].load(std::memory_order_relaxed);
  if (chunk != nullptr) return chunk;

  std::atomic<std::uint32_t>& count = g_region.header().chunk_count;
  const std::uint32_t number = count.load(std::memory_order_relaxed);
  if (number >= kMaxChunks) return nullptr;
  chunk = last_chunk_;
  if (number != 0) chunk = static_cast<Word*>(MapFollowing(last_chunk_, kChunkBytes));
  if (chunk == nullptr) return nullptr;

  last_chunk_ = chunk;
  // Release: the runner acquires the directory's entry, other threads g_chunks.
  g_region.directory()[directory_index].store(number + 1, std::memory_order_release);
  count.store(number + 1, std::memory_order_release);
  g_chunks[directory_index].store(chunk, std::memory_order_release);
  return chunk;
}

bool LiveMap::Insert(std::uint64_t address, const LiveEntry& entry,
                     std::optional<LiveEntry>& replaced) {
  if (entry.rest.size_bytes > kMaxBlockBytes) {
    g_region.Drop(DropReason::kBlockTooLarge);
    return false;
  }
  Word* const slot = SlotOrNewChunk(address);
  if (slot == nullptr) return false;

  const std::uint64_t old_start = slot[0].load(std::memory_order_relaxed);
  if (IsLiveStart(old_start)) {
    replaced = LiveEntry{DecodeStart(old_start),
                         DecodeRest(slot[1].load(std::memory_order_relaxed))};
  }
  // Release: a reader that sees the start word sees the rest, and the stack.
  slot[1].store(Encode(entry.rest), std::memory_order_relaxed);
  slot[0].store(Encode(entry.start), std::memory_order_release);
  return true;
}

std::optional<LiveEntry> LiveMap::Find(std::uint64_t address) const {
  Word* const slot = Slot(address);
  if (slot == nullptr) return std::nullopt;
  const std::uint64_t start = slot[0].load(std::memory_order_relaxed);
  if (!IsLiveStart(start)) return std::nullopt;
  return LiveEntry{DecodeStart(start), DecodeRest(slot[1].load(std::memory_order_relaxed))};
}

std::optional<LiveEntry> LiveMap::Erase(std::uint64_t address) {
  const std::optional<LiveEntry> found = Find(address);
  if (!found) return std::nullopt;
  Word* const slot = Slot(address);
  slot[0].store(0, std::memory_order_release);
  slot[1].store(0, std::memory_order_relaxed);
  return found;
}

}  // namespace leakgate::agent
