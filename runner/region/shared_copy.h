// Copies values out of memory that another process may be writing. Used by region_*.cpp only.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace leakgate {

// Acquire pairs with the agent's release: the records that are counted are complete.
inline std::uint32_t LoadCount(const std::atomic<std::uint32_t>& count, std::uint32_t limit) {
  return std::min(count.load(std::memory_order_acquire), limit);
}

template <typename T>
T CopyOf(const T* record) {
  T copy;
  std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(record), sizeof(T));
  return copy;
}

template <typename Enum>
bool IsBetween(std::uint32_t value, Enum first, Enum last) {
  return value >= static_cast<std::uint32_t>(first) && value <= static_cast<std::uint32_t>(last);
}

// Returns `value` as an Enum, or `otherwise` if it is not between `first` and `last`.
template <typename Enum>
Enum EnumOr(std::uint32_t value, Enum first, Enum last, Enum otherwise) {
  return IsBetween(value, first, last) ? static_cast<Enum>(value) : otherwise;
}

template <typename T>
T Load(const std::atomic<T>& value) {
  return value.load(std::memory_order_relaxed);
}

}  // namespace leakgate
