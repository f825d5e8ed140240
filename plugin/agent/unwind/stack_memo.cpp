#include "plugin/agent/unwind/stack_memo.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace leakgate::agent {

std::optional<std::uint32_t> StackMemo::Find(const CallerFrame& caller) {
  const Path path = PathOf(caller);
  Set& set = SetAt(path.place);
  for (Entry& entry : set.ways) {
    if (IsFork(entry) || !IsAt(entry, caller) || !HoldsInnermost(entry) || !Holds(entry)) continue;
    const std::uint32_t stack = entry.stack;
    if (kCallersAreAlike && &entry != set.ways && IsFor(set.ways[0], caller)) {
      Separate(entry, path);
    } else {
      std::swap(set.ways[0], entry);
    }
    return stack;
  }
  return std::nullopt;
}

// The two take turns. `entry` is that of the present stack.
void StackMemo::Separate(Entry& entry, const Path& path) {
  Entry& front = SetAt(path.place).ways[0];
  if (path.forks == kMostForks || !Fork(front, path.place)) return std::swap(front, entry);
  const Entry moved = std::exchange(entry, Entry{});
  Insert(moved, PlaceBehind(*front.forked_word, path.place));
}

// A fork that is not in front is put there.
StackMemo::Path StackMemo::FollowForks(const CallerFrame& caller) {
  Path path{PlaceOf(caller), 0};
  while (path.forks < kMostForks) {
    Entry* const ways = SetAt(path.place).ways;
    std::uint32_t way = 0;
    while (way < kWays && !(IsFor(ways[way], caller) && ways[way].kind == EntryKind::kFork)) ++way;
    if (way == kWays) break;
    std::swap(ways[0], ways[way]);
    path = {PlaceBehind(*ways[0].forked_word, path.place), path.forks + 1};
  }
  return path;
}

void StackMemo::Insert(const Entry& entry, std::uint64_t place) {
  Entry* const ways = SetAt(place).ways;
  for (std::uint32_t way = kWays - 1; way > 0; --way) ways[way] = ways[way - 1];
  ways[0] = entry;
}

// The words of the entry's stack are those of this one, too, since the stack pointer is the same.
bool StackMemo::Fork(Entry& entry, std::uint64_t place) {
  for (const Words* words = entry.words.begin; words != entry.words.end; ++words) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      const std::uint64_t before = PlaceBehind(words->values[i], place);
      const std::uint64_t now = PlaceBehind(*words->addresses[i], place);
      if (before == now || before == place || now == place) continue;
      const Entry moved = entry;
      entry = {.pc = entry.pc,
               .sp = entry.sp,
               .words = {},
               .fp = 0,
               .stack = 0,
               .kind = EntryKind::kFork,
               .forked_word = words->addresses[i],
               .reserved = 0};
      Insert(moved, before);
      return true;
    }
  }
  return false;
}

void StackMemo::Remember(const CallerFrame& caller, const StackTrail& trail, std::uint32_t id) {
  const std::uint32_t end = trail.slot_count();
  const std::uint32_t outermost = FirstSlotToProve(trail);
  if (!trail.is_provable || outermost == end) return;
  const std::uint32_t slots = end - outermost;
  const std::uint32_t size = (slots + 2 * kStride - 1) / (2 * kStride) * kStride;
  if (arena_used_ + size > kArenaSize) Forget();

  // The innermost comes first, because changes are mostly there. The outermost words fill the last
  // stride.
  Words* const begin = &arena_[arena_used_];
  arena_used_ += size;
  for (std::uint32_t i = 0; i < 2 * size; ++i) {
    const StackSlot& slot = trail.slots[i < slots ? end - 1 - i : outermost];
    begin[i / 2].values[i % 2] = slot.value;
    begin[i / 2].addresses[i % 2] = reinterpret_cast<const std::uint64_t*>(slot.address);
  }
  Path path = PathOf(caller);
  Set& set = SetAt(path.place);
  const bool is_full_of_alike = std::all_of(std::begin(set.ways), std::end(set.ways),
                                            [&](const Entry& e) { return IsFor(e, caller); });
  if (kCallersAreAlike && is_full_of_alike && path.forks < kMostForks &&
      Fork(set.ways[0], path.place)) {
    path.place = PlaceBehind(*set.ways[0].forked_word, path.place);
  }
  const bool depends_on_fp = trail.innermost().depends_on_fp;
  Insert({.pc = caller.pc,
          .sp = caller.sp,
          .words = {begin, begin + size},
          .fp = caller.fp,
          .stack = id,
          .kind = depends_on_fp ? EntryKind::kStackWithFp : EntryKind::kStack,
          .forked_word = nullptr,
          .reserved = 0},
         path.place);
}

// Slots further out belong to the first frame and to its callers. Trails begin with the outermost
// frame, so the first frame is near their begin, if it is there.
std::uint32_t StackMemo::FirstSlotToProve(const StackTrail& trail) const {
  if (first_.pc == 0 || trail.end != UnwindEnd::kOutermost) return 0;
  std::uint32_t index = 0;
  while (index < trail.depth && trail.frames[index].sp > first_.sp) ++index;
  if (index == trail.depth || index > first_.most_outward) return 0;
  const TrailFrame& frame = trail.frames[index];
  return frame.sp == first_.sp && frame.pc == first_.pc ? frame.slot_end : 0;
}

void StackMemo::Forget() {
  if (arena_used_ == 0) return;
  arena_used_ = 0;
  for (Set& set : sets_) set = {};
}

}  // namespace leakgate::agent
