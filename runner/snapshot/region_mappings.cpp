// RegionReader's mappings.
#include <algorithm>
#include <optional>

#include "runner/snapshot/region_reader.h"
#include "runner/snapshot/shared_copy.h"

namespace leakgate {
namespace {

// A record's fields, as they are in the region.
struct RawMapping {
  std::uint32_t stack;
  std::uint64_t begin;
  std::uint64_t bytes;
  std::uint64_t time_ns;
  std::uint32_t context;
  std::uint32_t kind;
  unsigned protection;
};

RawMapping CopyFields(const MappingRecord* shared) {
  return {.stack = CopyOf(&shared->stack),
          .begin = CopyOf(&shared->begin),
          .bytes = CopyOf(&shared->bytes),
          .time_ns = CopyOf(&shared->time_ns),
          .context = CopyOf(&shared->context),
          .kind = static_cast<std::uint32_t>(CopyOf(&shared->kind)),
          .protection = CopyOf(&shared->protection)};
}

// How often records in the middle of a change are read again, all together: a process
// that has scribbled on many must not make its reader wait for each.
constexpr int kMostAttempts = 100'000;

// As the record is between two changes; nullopt if it stays in the middle of one: the
// process was killed there, or wants nothing to be known. `attempts` are left for all.
std::optional<RawMapping> CopySettled(const MappingRecord* shared, int& attempts) {
  for (int i = std::max(1, std::min(attempts, 1000)); i > 0; --i) {
    // Acquire pairs with the agent's release: the fields are there.
    const std::uint32_t before = shared->sequence.load(std::memory_order_acquire);
    const RawMapping copy = CopyFields(shared);
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint32_t after = shared->sequence.load(std::memory_order_relaxed);
    if (before == after && before % 2 == 0) return copy;
    --attempts;
  }
  return std::nullopt;
}

bool IsMapping(const RawMapping& raw) {
  constexpr std::uint64_t kLimit = 1ULL << kAddressBits;
  return raw.bytes != 0 && raw.bytes <= kLimit && raw.begin <= kLimit - raw.bytes &&
         IsBetween(raw.kind, AllocationKind::kMapped, AllocationKind::kThreadStack);
}

}  // namespace

std::vector<MappingCopy> RegionReader::Mappings() const {
  std::vector<MappingCopy> mappings;
  const auto& totals = *At<MappingTotals>(region_offset::kMappingTotals);
  const std::uint32_t last = LoadCount(totals.record_count, kMaxMappings - 1);
  int attempts = kMostAttempts;
  for (std::uint32_t id = 1; id <= last; ++id) {
    const auto raw = CopySettled(At<MappingRecord>(region_offset::kMappings) + id, attempts);
    if (!raw || !IsMapping(*raw)) continue;
    const ContextRecord context = Context(raw->context);
    mappings.push_back({.address = raw->begin,
                        .size_bytes = raw->bytes,
                        .kind = static_cast<AllocationKind>(raw->kind),
                        .protection = raw->protection,
                        .stack = raw->stack,
                        .window = context.window,
                        .thread = context.thread,
                        .allowance = context.allowance,
                        .time_ns = raw->time_ns});
  }
  std::sort(mappings.begin(), mappings.end(),
            [](const MappingCopy& a, const MappingCopy& b) { return a.address < b.address; });
  return mappings;
}

Amount RegionReader::MappedInAll() const {
  constexpr std::uint64_t kMost = INT64_MAX;
  const auto& totals = *At<MappingTotals>(region_offset::kMappingTotals);
  return {static_cast<std::int64_t>(std::min(Load(totals.mapped_bytes), kMost)),
          static_cast<std::int64_t>(std::min(Load(totals.mapped_count), kMost))};
}

}  // namespace leakgate
