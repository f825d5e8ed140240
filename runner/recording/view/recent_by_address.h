// What happened a moment ago at an address, for events that may come in the wrong order. For one
// address, the oldest comes first. Older entries are forgotten.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

namespace leakgate {

template <typename Value>
class RecentByAddress {
 public:
  [[nodiscard]] bool empty() const { return order_.empty(); }

  void Add(std::uint64_t address, std::uint64_t time_ns, Value value) {
    by_address_[address].push_back({next_, std::move(value)});
    order_.push_back({next_, address, time_ns});
    ++next_;
  }

  // Removes and returns the oldest of `address`, or the newest.
  [[nodiscard]] std::optional<Value> TakeOldest(std::uint64_t address) {
    return Take(address, [](Entries& entries) { return entries.begin(); });
  }
  [[nodiscard]] std::optional<Value> TakeNewest(std::uint64_t address) {
    return Take(address, [](Entries& entries) { return entries.end() - 1; });
  }

  // Forgets entries from before `time_ns`. Returns how many of these had not been taken.
  std::uint64_t ForgetBefore(std::uint64_t time_ns) {
    std::uint64_t forgotten = 0;
    for (; !order_.empty() && order_.front().time_ns < time_ns; order_.pop_front()) {
      const auto known = by_address_.find(order_.front().address);
      if (known == by_address_.end()) continue;
      if (known->second.front().number != order_.front().number) continue;
      known->second.pop_front();
      if (known->second.empty()) by_address_.erase(known);
      ++forgotten;
    }
    return forgotten;
  }

 private:
  struct Entry {
    std::uint64_t number;
    Value value;
  };
  using Entries = std::deque<Entry>;
  struct Insertion {
    std::uint64_t number;
    std::uint64_t address;
    std::uint64_t time_ns;
  };

  template <typename Which>
  std::optional<Value> Take(std::uint64_t address, const Which& which) {
    const auto known = by_address_.find(address);
    if (known == by_address_.end()) return std::nullopt;
    const auto entry = which(known->second);
    std::optional<Value> value = std::move(entry->value);
    known->second.erase(entry);
    if (known->second.empty()) by_address_.erase(known);
    return value;
  }

  std::unordered_map<std::uint64_t, Entries> by_address_;
  std::deque<Insertion> order_;
  std::uint64_t next_ = 0;
};

}  // namespace leakgate
