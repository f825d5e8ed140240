// Groups of blocks or mappings with their sums, `Sums`: of a snapshot, of what a program has
// mapped, or of a recording.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/region/amount.h"
#include "runner/snapshot/view/group_by.h"
#include "runner/snapshot/view/stack_lookup.h"

namespace leakgate {

// The windows in which its earliest and its latest block were allocated.
struct WindowRange {
  std::uint32_t first = UINT32_MAX;  // UINT32_MAX: not known
  std::uint32_t last = 0;
};

template <typename Sums>
struct Group {
  std::string name{};   // not made printable
  std::string place{};  // "src/net/pool.cc:88", or another remark; may be empty
  Sums sums{};
  WindowRange windows{};        // of sites and stacks
  std::uint32_t stack = 0;      // of sites and stacks: the one that has most bytes
  std::uint64_t median_ns = 0;  // about, of the lifetimes in a recording; of groups of stacks
};

// Adds up stacks that are in the same group.
template <typename Sums>
class StackGroups {
 public:
  StackGroups(StackLookup& stacks, GroupBy by) : grouping_(stacks, by) {}

  // Returns the number of the group. `bytes` decides which stack of a group is the largest.
  std::size_t Add(std::uint32_t stack, const Sums& sums, std::int64_t bytes,
                  WindowRange windows = {}) {
    const std::size_t index = grouping_.GroupOf(stack);
    if (index == groups_.size()) {
      groups_.emplace_back();
      most_.push_back(-1);
    }
    Group<Sums>& group = groups_[index];
    group.sums += sums;
    group.windows = {std::min(group.windows.first, windows.first),
                     std::max(group.windows.last, windows.last)};
    if (bytes > most_[index]) {
      most_[index] = bytes;
      group.stack = stack;
    }
    return index;
  }

  std::vector<Group<Sums>> Take() {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].name = grouping_.groups()[i].name;
      groups_[i].place = grouping_.groups()[i].place;
    }
    return std::move(groups_);
  }

 private:
  StackGrouping grouping_;
  std::vector<Group<Sums>> groups_;
  std::vector<std::int64_t> most_;  // the bytes of the group's largest stack
};

[[nodiscard]] inline bool IsEmpty(const Amount& amount) { return amount.blocks == 0; }

// Makes a group of each entry of `all` that is not empty. `name` is given its index.
template <typename All, typename Name>
auto GroupsByIndex(const All& all, const Name& name) {
  std::vector<Group<typename All::value_type>> groups;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!IsEmpty(all[i])) groups.push_back({.name = name(i), .sums = all[i]});
  }
  return groups;
}

// Sorts groups by `key`, the least first; then by what can be seen of them.
template <typename Sums, typename Key>
std::vector<Group<Sums>> Sorted(std::vector<Group<Sums>> groups, const Key& key) {
  std::sort(groups.begin(), groups.end(), [&](const Group<Sums>& a, const Group<Sums>& b) {
    const auto first = key(a.sums);
    const auto second = key(b.sums);
    if (first != second) return first < second;
    return std::tie(a.name, a.place, a.stack) < std::tie(b.name, b.place, b.stack);
  });
  return groups;
}

}  // namespace leakgate
