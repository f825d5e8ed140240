// The region as the agent sees it: typed pointers into the shared mapping.
//
// The agent never unmaps the region's addresses. A later region is mapped in the place of an
// earlier one, and between the two there is private memory (Park in linux/syscall.h). A fork child
// does not inherit the mapping (MADV_DONTFORK) and finds tracing switched off (host/on_switch.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/entry_hooks.h"
#include "common/region_layout.h"
#include "plugin/agent/base/visibility.h"

namespace leakgate::agent {

struct Region {
  char* base = nullptr;
  // Where the byte would be that notes address 0 as written (kNotesTouchedPages).
  std::uint64_t touched = 0;

  // REQUIRES: `mapped` is a multiple of kMappingAlignment.
  void BeginAt(char* mapped) {
    base = mapped;
    const auto at = reinterpret_cast<std::uint64_t>(mapped);
    touched = at + region_offset::kTouched - (at + region_offset::kDirectory) / kMappingAlignment;
  }

  RegionHeader& header() const { return At<RegionHeader>(region_offset::kHeader); }
  const EntryHooks& entry_hooks() const { return At<EntryHooks>(region_offset::kEntryHooks); }
  Mailbox& mailbox() const { return At<Mailbox>(region_offset::kMailbox); }
  WindowRecord* windows() const { return &At<WindowRecord>(region_offset::kWindows); }
  ThreadRecord* threads() const { return &At<ThreadRecord>(region_offset::kThreads); }
  CounterShard* shards() const { return &At<CounterShard>(region_offset::kShards); }
  ContextRecord* contexts() const { return &At<ContextRecord>(region_offset::kContexts); }
  ModuleRecord* modules() const { return &At<ModuleRecord>(region_offset::kModules); }
  char* text() const { return &At<char>(region_offset::kText); }
  AllowanceRecord* allowances() const { return &At<AllowanceRecord>(region_offset::kAllowances); }
  EarlierFree* earlier_frees() const { return &At<EarlierFree>(region_offset::kEarlierFrees); }
  FreeError* free_errors() const { return &At<FreeError>(region_offset::kFreeErrors); }
  MappingTotals& mapping_totals() const { return At<MappingTotals>(region_offset::kMappingTotals); }
  MappingRecord* mappings() const { return &At<MappingRecord>(region_offset::kMappings); }
  OwnRange* own_ranges() const { return &At<OwnRange>(region_offset::kOwnRanges); }
  MeasuringWindowRecord* measuring_windows() const {
    return &At<MeasuringWindowRecord>(region_offset::kMeasuringWindows);
  }
  PoolRecord* pools() const { return &At<PoolRecord>(region_offset::kPools); }
  std::atomic<std::uint64_t>* pool_areas() const {
    return &At<std::atomic<std::uint64_t>>(region_offset::kPoolAreas);
  }
  StackNode* stacks() const { return &At<StackNode>(region_offset::kStacks); }
  Tally* freed_by() const { return &At<Tally>(region_offset::kFreedBy); }
  Tally* allocated_by() const { return &At<Tally>(region_offset::kAllocatedBy); }
  EventControl& event_control() const { return At<EventControl>(region_offset::kEventControl); }
  EventBuffer* event_buffers() const { return &At<EventBuffer>(region_offset::kEventBuffers); }
  std::atomic<std::uint32_t>* directory() const {
    return &At<std::atomic<std::uint32_t>>(region_offset::kDirectory);
  }

  // Must be called for memory behind kTouched that is written (kNotesTouchedPages). A thread that
  // finds the byte set only reads it, so threads do not take the cache line from each other.
  void NoteTouched(const void* written) const {
    if constexpr (kNotesTouchedPages) {
      const auto at = reinterpret_cast<std::uint64_t>(written);
      auto& byte = *reinterpret_cast<std::atomic<std::uint8_t>*>(touched + at / kMappingAlignment);
      if (byte.load(std::memory_order_relaxed) != 0) return;
      // Release, like the words that follow: a reader that finds them has found this.
      byte.store(1, std::memory_order_release);
    }
  }

  // Counts something that could not be recorded.
  void Drop(DropReason reason) const {
    header().drops[static_cast<std::uint32_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }

  // Copies a string into the region's text. Counts a drop and returns an empty reference if there
  // is no room.
  TextRef AddText(const char* text, std::uint32_t length) const;

 private:
  template <typename T>
  T& At(std::uint64_t offset) const {
    return *reinterpret_cast<T*>(base + offset);
  }
};

// The process's one region. base is nullptr until tracing starts.
extern LEAKGATE_INTERNAL Region g_region;

// Records in the region, for the runner, that [begin, begin + bytes) is the agent's own memory: a
// pointer from there into the heap keeps no block alive. Ranges that do not fit into the table are
// only counted.
void NoteOwnMemory(const void* begin, std::size_t bytes);

// Maps anonymous private memory, which is zeroed, and notes it. Returns nullptr if there is none.
// REQUIRES: the region is mapped.
void* MapOwn(std::size_t bytes);

}  // namespace leakgate::agent
