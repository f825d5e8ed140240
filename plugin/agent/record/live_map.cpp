#include "plugin/agent/record/live_map.h"

#include "common/system.h"
#include "plugin/agent/base/region.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {

constinit ChunkPlaces LiveMap::chunks_;
constinit LiveMap::Slot LiveMap::places_[kMaxChunks] = {};
constinit LiveMap g_live_map;

bool LiveMap::Start(int region_fd) {
  lock_.Reset();
  chunks_.Start(last_chunk_ == nullptr);
  void* const first = MapSharedAt(places_[0], region_fd, region_offset::kChunks, kChunkBytes);
  if (first == nullptr) return false;
  places_[0] = last_chunk_ = static_cast<Slot>(first);
  mapped_count_ = 1;
  NoteOwnMemory(first, kChunkBytes);
  NoteOwnMemory(&chunks_, sizeof(chunks_));
  LeaveOutOfCoreDumps(&chunks_, sizeof(chunks_));
  return true;
}

void LiveMap::ParkChunks() {
  for (std::uint32_t i = 0; i < mapped_count_; ++i) Park(places_[i], kChunkBytes);
  mapped_count_ = 0;
}

void LiveMap::ForgetChunks() {
  for (Slot& place : places_) place = nullptr;
  mapped_count_ = 0;
}

std::uint64_t LiveMap::FindBegin(std::uint64_t address, std::uint64_t farthest) {
  constexpr std::uint64_t kGranule = kGranuleMask + 1;
  constexpr std::uint64_t kStretch = std::uint64_t{1} << kChunkShift;
  const std::uint64_t last = address & ~kGranuleMask;
  for (std::uint64_t at = last; at != 0 && last - at <= farthest;) {
    const Slot slot = FindAligned(at);
    if (slot == nullptr) {  // no block begins in the whole stretch
      at = (at & ~(kStretch - 1)) - kGranule;
      continue;
    }
    if (IsLiveAt(slot)) {
      return address == at || address - at < SizeAt(slot, RestAt(slot)) ? at : 0;
    }
    at -= kGranule;
  }
  return 0;
}

LiveMap::Slot LiveMap::SlotFor(std::uint64_t address) {
  address = WithoutTag(address);
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
  Slot chunk = chunks_.At(directory_index);
  if (chunk != nullptr) return chunk;

  std::atomic<std::uint32_t>& count = g_region.header().chunk_count;
  const std::uint32_t number = count.load(std::memory_order_relaxed);
  std::atomic<std::uint32_t>& entry = g_region.directory()[directory_index];
  const bool has_room = MakeRoom(&entry, sizeof(entry)) && chunks_.MakeRoomAt(directory_index);
  if (number >= kMaxChunks || !has_room) return nullptr;
  chunk = last_chunk_;
  if (number != 0) {
    Slot& place = places_[number];
    void* const mapped = place == nullptr ? MapFollowing(last_chunk_, kChunkBytes)
                                          : MapFollowingAt(place, last_chunk_, kChunkBytes);
    if (mapped == nullptr) return nullptr;
    chunk = place = static_cast<Slot>(mapped);
    mapped_count_ = number + 1;
    NoteOwnMemory(chunk, kChunkBytes);
  }

  last_chunk_ = chunk;
  // Release: the runner acquires the directory's entry, other threads chunks_.
  g_region.NoteTouched(&entry);
  entry.store(number + 1, std::memory_order_release);
  count.store(number + 1, std::memory_order_release);
  chunks_.Set(directory_index, chunk);
  return chunk;
}

}  // namespace leakgate::agent
