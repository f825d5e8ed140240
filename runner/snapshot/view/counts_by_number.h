// Counts that are kept by a number: of a stack, a thread, a window or a class of sizes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leakgate {

// Returns the entry at `index`, and adds entries up to it first if there are fewer.
template <typename Entry>
Entry& At(std::vector<Entry>& entries, std::size_t index) {
  if (index >= entries.size()) [[unlikely]] {
    entries.resize(std::max<std::size_t>(index + 1, entries.size() * 2));
  }
  return entries[index];
}

// Class n has blocks of at most 1 << n bytes, and more than half of that.
inline std::size_t SizeClassOf(std::uint64_t bytes) {
  return bytes <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(bytes - 1));
}

}  // namespace leakgate
