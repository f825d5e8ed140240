#include "plugin/agent/mappings/mapping_table.h"

#include <utility>

#include "common/system.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {

using mapping_tree::EndOf;
using mapping_tree::FirstFrom;
using mapping_tree::Halves;
using mapping_tree::Insert;
using mapping_tree::Join;
using mapping_tree::LastBelow;
using mapping_tree::Pop;
using mapping_tree::RecordOf;
using mapping_tree::Remove;
using mapping_tree::Split;

constinit MappingTable g_mappings;

namespace {

constexpr std::uint8_t kReadAndWrite = 3;

}  // namespace

void MappingTable::Restart() {
  lock_.Reset();
  tree_ = 0;
  unused_ = 0;
}

std::uint32_t MappingTable::NewRecord() {
  if (unused_ != 0) return std::exchange(unused_, RecordOf(unused_).above);
  std::atomic<std::uint32_t>& count = g_region.mapping_totals().record_count;
  const std::uint32_t id = count.load(std::memory_order_relaxed) + 1;
  if (id >= kMaxMappings || !MakeRoom(&RecordOf(id), sizeof(MappingRecord))) {
    g_region.Drop(DropReason::kMappingTableFull);
    return 0;
  }
  // Release: the runner acquires the count before it reads the record.
  count.store(id, std::memory_order_release);
  return id;
}

void MappingTable::Release(std::uint32_t id) {
  mapping_edit::Count(RecordOf(id), -1);
  mapping_edit::Place(RecordOf(id), {});
  RecordOf(id).above = std::exchange(unused_, id);
}

void MappingTable::ReleaseAll(Tree tree) {
  while (tree != 0) Release(Pop(tree));
}

void MappingTable::CutAt(std::uint64_t address) {
  const std::uint32_t id = LastBelow(tree_, address);
  if (id == 0 || EndOf(id) <= address) return;
  const std::uint64_t end = EndOf(id);
  const std::uint32_t rest = NewRecord();
  if (rest != 0) {
    mapping_edit::FillAs(RecordOf(id), {address, end}, RecordOf(rest));
    mapping_edit::Count(RecordOf(rest), 1);
    Insert(tree_, rest);
  }
  mapping_edit::Place(RecordOf(id), {RecordOf(id).begin, address});
}

MappingTable::Tree MappingTable::TakeOut(AddressRange range) {
  CutAt(range.begin);
  CutAt(range.end);
  const Halves at_begin = Split(tree_, range.begin);
  const Halves at_end = Split(at_begin.rest, range.end);
  tree_ = Join(at_begin.below, at_end.rest);
  return at_end.below;
}

void MappingTable::AddPiece(AddressRange range, const MappingOrigin& origin, MappingNature nature) {
  const std::uint32_t id = NewRecord();
  if (id == 0) return;
  mapping_edit::Fill(RecordOf(id), range, origin, nature);
  mapping_edit::Count(RecordOf(id), 1);
  Insert(tree_, id);
}

void MappingTable::JoinWithNext(std::uint32_t id) {
  const std::uint32_t next = FirstFrom(tree_, EndOf(id));
  if (next == 0 || RecordOf(next).begin != EndOf(id)) return;
  if (!mapping_edit::IsOfTheSame(RecordOf(id), RecordOf(next))) return;
  const std::uint64_t end = EndOf(next);
  Remove(tree_, next);
  Release(next);
  mapping_edit::Place(RecordOf(id), {RecordOf(id).begin, end});
}

void MappingTable::JoinAround(std::uint32_t id) {
  JoinWithNext(id);
  const std::uint32_t before = LastBelow(tree_, RecordOf(id).begin);
  if (before != 0) JoinWithNext(before);
}

bool MappingTable::Overlaps(AddressRange range) const {
  const std::uint32_t id = LastBelow(tree_, range.end);
  return id != 0 && EndOf(id) > range.begin;
}

TakenMappings MappingTable::Take(AddressRange range) {
  TakenMappings taken;
  if (range.begin >= range.end) return taken;
  const SpinGuard guard(lock_);
  taken.tree_ = TakeOut(range);
  taken.span_ = g_span;
  return taken;
}

void MappingTable::Forget(TakenMappings taken) {
  if (taken.empty()) return;
  const SpinGuard guard(lock_);
  ReleaseAll(taken.Tree());
}

void MappingTable::PutBack(TakenMappings taken, bool (*is_mapped)(std::uint64_t address)) {
  for (Tree tree = taken.Tree(); tree != 0;) {
    const std::uint32_t id = Pop(tree);
    const AddressRange range{RecordOf(id).begin, EndOf(id)};
    const bool is_there = is_mapped(range.begin);
    const SpinGuard guard(lock_);
    if (is_there && !Overlaps(range)) {
      Insert(tree_, id);
      JoinAround(id);
    } else {
      Release(id);
    }
  }
}

void MappingTable::Move(TakenMappings taken, std::uint64_t from, AddressRange to) {
  const SpinGuard guard(lock_);
  ReleaseAll(TakeOut(to));
  for (Tree tree = taken.Tree(); tree != 0;) {
    const std::uint32_t id = Pop(tree);
    const std::uint64_t begin = to.begin + (RecordOf(id).begin - from);
    if (begin >= to.end) {
      Release(id);
      continue;
    }
    const std::uint64_t end = begin + RecordOf(id).bytes;
    mapping_edit::Place(RecordOf(id), {begin, end < to.end ? end : to.end});
    Insert(tree_, id);
  }
}

void MappingTable::Add(AddressRange range, const MappingOrigin& origin, MappingNature nature) {
  mapping_edit::CountEver(range.bytes(), nature.protection);
  const SpinGuard guard(lock_);
  ReleaseAll(TakeOut(range));
  AddPiece(range, origin, nature);
}

void MappingTable::Grow(AddressRange range, const MappingOrigin& origin) {
  const SpinGuard guard(lock_);
  ReleaseAll(TakeOut(range));
  const std::uint32_t before = LastBelow(tree_, range.begin);
  const bool is_known = before != 0 && EndOf(before) == range.begin;
  const MappingNature nature =
      is_known ? MappingNature{RecordOf(before).kind, RecordOf(before).protection}
               : MappingNature{AllocationKind::kMapped, kReadAndWrite};
  mapping_edit::CountEver(range.bytes(), nature.protection);
  if (!is_known || RecordOf(before).context != origin.context) {
    return AddPiece(range, origin, nature);
  }
  mapping_edit::Extend(RecordOf(before), range.end, origin);
}

bool MappingTable::HasReserved(AddressRange range) {
  const SpinGuard guard(lock_);
  std::uint32_t id = LastBelow(tree_, range.begin + 1);
  if (id == 0 || EndOf(id) <= range.begin) id = FirstFrom(tree_, range.begin);
  for (; id != 0 && RecordOf(id).begin < range.end; id = FirstFrom(tree_, EndOf(id))) {
    if (RecordOf(id).protection == 0) return true;
  }
  return false;
}

void MappingTable::Commit(AddressRange range, const MappingOrigin& origin,
                          std::uint8_t protection) {
  const SpinGuard guard(lock_);
  CutAt(range.begin);
  CutAt(range.end);
  std::uint32_t id = FirstFrom(tree_, range.begin);
  while (id != 0 && RecordOf(id).begin < range.end) {
    MappingRecord& record = RecordOf(id);
    const std::uint64_t end = EndOf(id);
    if (record.protection == 0) {
      mapping_edit::Commit(record, origin, protection);
      mapping_edit::Count(record, 1);
      mapping_edit::CountEver(record.bytes, protection);
    }
    JoinAround(id);
    id = FirstFrom(tree_, end);
  }
}

void MappingTable::Decommit(AddressRange range) {
  const SpinGuard guard(lock_);
  CutAt(range.begin);
  CutAt(range.end);
  std::uint32_t id = FirstFrom(tree_, range.begin);
  while (id != 0 && RecordOf(id).begin < range.end) {
    const std::uint64_t end = EndOf(id);
    mapping_edit::Count(RecordOf(id), -1);
    mapping_edit::Decommit(RecordOf(id));
    JoinAround(id);
    id = FirstFrom(tree_, end);
  }
}

std::optional<MappingNature> MappingTable::NatureAt(std::uint64_t address) {
  const SpinGuard guard(lock_);
  const std::uint32_t id = LastBelow(tree_, address + 1);
  if (id == 0 || EndOf(id) <= address) return std::nullopt;
  return MappingNature{RecordOf(id).kind, RecordOf(id).protection};
}

std::optional<std::uint64_t> MappingTable::EndOfPieceAt(std::uint64_t address) {
  const SpinGuard guard(lock_);
  const std::uint32_t id = FirstFrom(tree_, address);
  if (id == 0 || RecordOf(id).begin != address) return std::nullopt;
  return EndOf(id);
}

std::uint32_t MappingTable::AddStack(std::uint64_t bytes, const MappingOrigin& origin) {
  const SpinGuard guard(lock_);
  const std::uint32_t id = NewRecord();
  if (id == 0) return 0;
  mapping_edit::Fill(RecordOf(id), {0, bytes}, origin,
                     {AllocationKind::kThreadStack, kReadAndWrite});
  mapping_edit::Count(RecordOf(id), 1);
  return id;
}

void MappingTable::PlaceStack(std::uint32_t id, std::uint64_t begin) {
  const std::uint64_t bytes = RecordOf(id).bytes;
  mapping_edit::CountEver(bytes, kReadAndWrite);
  mapping_edit::Place(RecordOf(id), {begin, begin + bytes});
}

void MappingTable::ForgetStack(std::uint32_t id) {
  const SpinGuard guard(lock_);
  Release(id);
}

}  // namespace leakgate::agent
