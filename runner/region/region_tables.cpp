// Implements the functions of RegionReader for threads, allowances, frees and mappings.
#include <algorithm>
#include <array>
#include <optional>

#include "runner/base/path_text.h"
#include "runner/region/region_reader.h"
#include "runner/region/shared_copy.h"

namespace leakgate {
namespace {

// The fields of a MappingRecord, copied but not checked.
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

// How often the reader reads records again, in total, because they are being changed. The bound is
// for all records together, so that a process that overwrites many cannot make its reader wait for
// each.
constexpr int kMostAttempts = 100'000;

// Copies a record between two changes. Returns nullopt if the record stays in the middle of a
// change, because the process was killed there, or hides the record on purpose. `attempts` is how
// many are left for all records.
std::optional<RawMapping> CopySettled(const MappingRecord* shared, int& attempts) {
  for (int i = std::max(1, std::min(attempts, 1000)); i > 0; --i) {
    // Acquire pairs with the agent's release: the fields are complete.
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

std::uint32_t RegionReader::ThreadCount() const {
  return LoadCount(Header().thread_count, kMaxThreads);
}

ThreadCopy RegionReader::Thread(std::uint32_t id) const {
  ThreadCopy copy;
  if (id == 0 || id >= ThreadCount()) return copy;

  const auto* const shared = At<ThreadRecord>(region_offset::kThreads) + id;
  // Acquire pairs with the agent's release: the rest of the record is complete.
  copy.tid = __atomic_load_n(&shared->tid, __ATOMIC_ACQUIRE);
  if (copy.tid == 0) return copy;
  // The same for the name.
  copy.has_ended = shared->has_ended.load(std::memory_order_acquire) != 0;
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
  if (!IsBetween(record.kind, AllowanceKind::kScoped, AllowanceKind::kSuppressions)) return copy;
  copy.id = id;
  copy.kind = static_cast<AllowanceKind>(record.kind);
  copy.window = record.window;
  copy.thread = record.thread;
  constexpr std::size_t kMostPathBytes = 4096;
  copy.reason = Text(record.reason);
  if (record.file.length <= kMostPathBytes) copy.file = WithSlashes(Text(record.file));
  copy.line = static_cast<int>(record.line & 0x7FFF'FFFF);
  // -1 means no limit; a smaller number is not from the agent.
  copy.bytes = std::max<std::int64_t>(record.bytes, -1);
  copy.blocks = std::max<std::int64_t>(record.blocks, -1);
  return copy;
}

std::string RegionReader::PoolName(std::uint32_t id) const {
  if (id == 0 || id >= kMaxPools) return {};
  return Text(CopyOf(&At<PoolRecord>(region_offset::kPools)[id].name));
}

std::uint32_t RegionReader::MeasuringWindowCount() const {
  return LoadCount(Header().measuring_window_count, kMaxMeasuringWindows);
}

std::vector<KeptRange> RegionReader::RootRegions() const {
  std::vector<KeptRange> regions;
  for (std::uint32_t id = 1; id < AllowanceCount(); ++id) {
    const AllowanceRecord record = CopyOf(At<AllowanceRecord>(region_offset::kAllowances) + id);
    const bool is_registered =
        record.kind == static_cast<std::uint32_t>(AllowanceKind::kRootRegion) && record.thread != 0;
    const auto begin = static_cast<std::uint64_t>(record.bytes);
    const std::uint64_t end = begin + static_cast<std::uint64_t>(record.blocks);
    if (is_registered && begin < end) regions.push_back({begin, end});
  }
  return regions;
}

std::vector<bool> RegionReader::IgnoredAllowances() const {
  std::vector<bool> ignored(AllowanceCount());
  for (std::uint32_t id = 1; id < ignored.size(); ++id) {
    const auto* const record = At<AllowanceRecord>(region_offset::kAllowances) + id;
    ignored[id] = CopyOf(&record->kind) == static_cast<std::uint32_t>(AllowanceKind::kIgnored);
  }
  return ignored;
}

MeasuringWindowCopy RegionReader::MeasuringWindow(std::uint32_t id) const {
  MeasuringWindowCopy copy;
  if (id == 0 || id >= MeasuringWindowCount()) return copy;

  const auto* const shared = At<MeasuringWindowRecord>(region_offset::kMeasuringWindows) + id;
  // Acquire pairs with the agent's release: the rest of the record is complete.
  const std::uint32_t state = shared->state.load(std::memory_order_acquire);
  const bool is_open = state == static_cast<std::uint32_t>(WindowState::kOpen);
  const bool is_closed = state == static_cast<std::uint32_t>(WindowState::kClosed);
  if (!is_open && !is_closed) return copy;
  copy.id = id;
  copy.state = static_cast<WindowState>(state);
  copy.window = CopyOf(&shared->window);
  copy.thread = CopyOf(&shared->thread);
  copy.name = Text(CopyOf(&shared->name));
  copy.file = WithSlashes(Text(CopyOf(&shared->file)));
  copy.line = static_cast<int>(CopyOf(&shared->line) & 0x7FFF'FFFF);
  // Phase 0 belongs to no measuring window.
  copy.first_phase = std::max<std::uint32_t>(CopyOf(&shared->first_phase), 1);
  copy.end_phase = is_open ? UINT32_MAX : CopyOf(&shared->end_phase);
  return copy;
}

std::uint32_t RegionReader::EarlierFreeCount() const { return Load(Header().earlier_free_count); }

std::vector<EarlierFreeCopy> RegionReader::EarlierFrees(std::uint32_t from) const {
  std::vector<EarlierFreeCopy> frees;
  const std::uint32_t count = LoadCount(Header().earlier_free_count, kMaxEarlierFrees);
  for (std::uint32_t i = from; i < count; ++i) {
    const auto* const shared = At<EarlierFree>(region_offset::kEarlierFrees) + i;
    // Acquire pairs with the agent's release. Window 0: the agent has not completed the record
    // yet, or has withdrawn it.
    const std::uint32_t window = __atomic_load_n(&shared->window, __ATOMIC_ACQUIRE);
    if (window == 0) continue;
    frees.push_back({CopyOf(&shared->stack), window, CopyOf(&shared->size_bytes)});
  }
  return frees;
}

std::vector<FreedByCopy> RegionReader::FreedBy() const {
  if ((StackEvents() & kStacksOfFree) == 0) return {};
  return TalliesAt(region_offset::kFreedBy);
}

std::vector<FreedByCopy> RegionReader::AllocatedBy() const {
  if ((StackEvents() & kCountsAllocations) == 0) return {};
  return TalliesAt(region_offset::kAllocatedBy);
}

std::vector<FreedByCopy> RegionReader::TalliesAt(std::uint64_t offset) const {
  std::vector<FreedByCopy> tallies;
  const std::uint32_t count = LoadCount(Header().stack_node_count, kMaxStackNodes);
  for (std::uint32_t stack = 0; stack < count; ++stack) {
    const auto* const shared = At<Tally>(offset) + stack;
    // Acquire pairs with the agent's release: the bytes of these blocks have been counted.
    const std::uint64_t blocks = shared->blocks.load(std::memory_order_acquire);
    if (blocks == 0) continue;
    tallies.push_back({stack, AmountOf(Load(shared->bytes), blocks)});
  }
  return tallies;
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

std::vector<KeptRange> RegionReader::KeptRanges() const {
  std::vector<KeptRange> kept;
  for (const KeptRange& shared : Header().kept_ranges) {
    const KeptRange range = CopyOf(&shared);
    kept.push_back(range.begin < range.end ? range : KeptRange{});
  }
  return kept;
}

EncodedPointers RegionReader::PointersEncoded() const { return CopyOf(&Header().encoded_pointers); }

std::vector<OwnRange> RegionReader::OwnRanges() const {
  std::vector<OwnRange> ranges;
  const std::uint32_t count = LoadCount(Header().own_range_count, kMaxOwnRanges);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto* const shared = At<OwnRange>(region_offset::kOwnRanges) + i;
    // The end is read first, and acquire pairs with the agent's release: the begin is complete.
    // With an old begin, everything below the end would count as the agent's memory.
    const std::uint64_t end = __atomic_load_n(&shared->end, __ATOMIC_ACQUIRE);
    const std::uint64_t begin = CopyOf(&shared->begin);
    if (begin < end) ranges.push_back({begin, end});  // else the record is not complete yet
  }
  return ranges;
}

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
