#include "runner/recording/view/lifetimes.h"

#include <utility>

namespace leakgate {

std::uint64_t MedianOf(const LifetimeCounts& counts) {
  std::uint64_t all = 0;
  for (const auto& [lifetime, count] : counts) all += count;
  std::uint64_t before = 0;
  for (const auto& [lifetime, count] : counts) {
    before += count;
    if (2 * before < all) continue;
    const std::uint64_t shortest = ShortestOf(lifetime);
    const bool is_last = lifetime + 1 == kLifetimeClasses;
    return is_last ? shortest : shortest + (ShortestOf(lifetime + 1) - shortest) / 2;
  }
  return 0;
}

void LifetimesByStack::AddTo(const std::vector<std::uint32_t>& group_of,
                             std::vector<LifetimeCounts>& by_group) const {
  for (const Slot& slot : slots_) {
    if (slot.key == 0 || slot.count == 0) continue;
    const std::uint64_t stack = (slot.key - 1) >> 8;
    if (stack >= group_of.size() || group_of[stack] >= by_group.size()) continue;
    by_group[group_of[stack]][static_cast<LifetimeClass>((slot.key - 1) & 0xFF)] += slot.count;
  }
}

LifetimesByStack::Slot& LifetimesByStack::Claim(std::size_t at, std::uint64_t key) {
  if (4 * (used_ + 1) > 3 * slots_.size()) {
    std::vector<Slot> old(2 * slots_.size());
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.key == 0) continue;
      std::size_t place = HomeOf(slot.key);
      while (slots_[place].key != 0) place = (place + 1) & (slots_.size() - 1);
      slots_[place] = slot;
    }
    for (at = HomeOf(key); slots_[at].key != 0; at = (at + 1) & (slots_.size() - 1)) {
    }
  }
  ++used_;
  slots_[at].key = key;
  return slots_[at];
}

}  // namespace leakgate
