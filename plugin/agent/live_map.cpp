#include "plugin/agent/live_map.h"

#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/own_memory.h"

namespace leakgate::agent {

constinit LiveMap::Slot LiveMap::chunks_[kDirectoryEntries] = {};
constinit LiveMap g_live_map;

void LiveMap::Start(void* first_chunk) {
  last_chunk_ = static_cast<Slot>(first_chunk);
  NoteOwnMemory(first_chunk, kChunkBytes);
  NoteOwnMemory(chunks_, sizeof(chunks_));
}

LiveMap::Slot LiveMap::SlotFor(std::uint64_t address) {
  const Slot slot = Find(address);
  if (slot != nullptr) return slot;

  if ((address >> kAddressBits) != 0) {
    g_region.Drop(DropReason::kAddressRange);
    return nullptr;
  }
  if ((address & kGranuleMask) != 0) {
    g_region.Drop(DropReason::kUnaligned);
    return nullptr;
  }
  if (MapChunk(address >> kChunkShift) == nullptr) {
    g_region.Drop(DropReason::kMapFull);
    return nullptr;
  }
  return Find(address);
}

LiveMap::Slot LiveMap::MapChunk(std::uint64_t directory_index) {
  const SpinGuard guard(lock_);
  const std::atomic_ref known(chunks_[directory_index]);
  Slot chunk = known.load(std::memory_order_relaxed);
  if (chunk != nullptr) return chunk;

  std::atomic<std::uint32_t>& count = g_region.header().chunk_count;
  const std::uint32_t number = count.load(std::memory_order_relaxed);
  if (number >= kMaxChunks) return nullptr;
  chunk = last_chunk_;
  if (number != 0) {
    chunk = static_cast<Slot>(MapFollowing(last_chunk_, kChunkBytes));
    if (chunk == nullptr) return nullptr;
    NoteOwnMemory(chunk, kChunkBytes);
  }

  last_chunk_ = chunk;
  // Release: the runner acquires the directory's entry, other threads chunks_.
  g_region.directory()[directory_index].store(number + 1, std::memory_order_release);
  count.store(number + 1, std::memory_order_release);
  known.store(chunk, std::memory_order_release);
  return chunk;
}

}  // namespace leakgate::agent
