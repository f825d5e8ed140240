#include "plugin/agent/mappings/mapping_edit.h"

namespace leakgate::agent::mapping_edit {
namespace {

// While this object lives, the reader sees either all of the changes or none.
class RecordEdit {
 public:
  explicit RecordEdit(MappingRecord& record)
      : record_(record), before_(record.sequence.load(std::memory_order_relaxed)) {
    record_.sequence.store(before_ + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  // Release pairs with the reader's acquire.
  ~RecordEdit() { record_.sequence.store(before_ + 2, std::memory_order_release); }
  RecordEdit(const RecordEdit&) = delete;
  RecordEdit& operator=(const RecordEdit&) = delete;

 private:
  MappingRecord& record_;
  const std::uint32_t before_;
};

void SetOrigin(MappingRecord& record, const MappingOrigin& origin) {
  record.stack = origin.stack;
  record.context = origin.context;
  record.time_ns = origin.time_ns;
}

}  // namespace

void Fill(MappingRecord& record, AddressRange range, const MappingOrigin& origin,
          MappingNature nature) {
  const RecordEdit edit(record);
  record.begin = range.begin;
  record.bytes = range.bytes();
  SetOrigin(record, origin);
  record.kind = nature.kind;
  record.protection = nature.protection;
  record.was_committed_later = 0;
}

void FillAs(const MappingRecord& whole, AddressRange part, MappingRecord& record) {
  Fill(record, part, {whole.stack, whole.context, whole.time_ns}, {whole.kind, whole.protection});
  const RecordEdit edit(record);
  record.was_committed_later = whole.was_committed_later;
}

void Place(MappingRecord& record, AddressRange range) {
  const RecordEdit edit(record);
  record.begin = range.begin;
  record.bytes = range.bytes();
}

void Extend(MappingRecord& record, std::uint64_t end, const MappingOrigin& origin) {
  const RecordEdit edit(record);
  record.bytes = end - record.begin;
  SetOrigin(record, origin);
}

void Commit(MappingRecord& record, const MappingOrigin& origin, std::uint8_t protection) {
  const RecordEdit edit(record);
  SetOrigin(record, origin);
  record.protection = protection;
  record.was_committed_later = 1;
}

void Decommit(MappingRecord& record) {
  const RecordEdit edit(record);
  record.protection = 0;
}

bool IsOfTheSame(const MappingRecord& a, const MappingRecord& b) {
  if (a.kind != b.kind || a.protection != b.protection) return false;
  if (a.protection == 0) return true;
  if (a.stack != b.stack || a.context != b.context) return false;
  return a.time_ns == b.time_ns || (a.was_committed_later != 0 && b.was_committed_later != 0);
}

void Count(const MappingRecord& record, std::int64_t change) {
  if (record.protection == 0) return;
  const std::uint32_t window = g_region.contexts()[record.context % kMaxContexts].window;
  g_region.windows()[window % kMaxWindows].mappings.fetch_add(change, std::memory_order_relaxed);
}

void CountEver(std::uint64_t bytes, std::uint8_t protection) {
  if (protection == 0) return;
  MappingTotals& totals = g_region.mapping_totals();
  totals.mapped_bytes.fetch_add(bytes, std::memory_order_relaxed);
  totals.mapped_count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace leakgate::agent::mapping_edit
