#include "runner/reach/byte_search.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace leakgate {

std::size_t FindBytes(std::span<const std::uint64_t> words, std::size_t from,
                      std::span<const std::uint8_t> wanted) {
  if (from >= words.size()) return words.size();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  const std::size_t end = words.size_bytes() - (wanted.size() - 1);
  std::size_t at = from * sizeof(std::uint64_t);
  // Sixteen places at once: whether each of the bytes is where it would have to be.
  using Places = std::uint8_t __attribute__((vector_size(16)));
  using Halves = std::uint64_t __attribute__((vector_size(16)));
  for (; at + sizeof(Places) <= end; at += sizeof(Places)) {
    Places is_there = ~Places{};
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      Places some;
      std::memcpy(&some, bytes + at + i, sizeof some);
      is_there &= reinterpret_cast<Places>(some == wanted[i]);
    }
    const auto halves = reinterpret_cast<Halves>(is_there);
    if ((halves[0] | halves[1]) == 0) continue;
    const auto byte = static_cast<std::size_t>(halves[0] != 0 ? std::countr_zero(halves[0])
                                                              : 64 + std::countr_zero(halves[1]));
    return (at + byte / 8) / sizeof(std::uint64_t);
  }
  for (; at < end; ++at) {
    if (std::equal(wanted.begin(), wanted.end(), bytes + at)) return at / sizeof(std::uint64_t);
  }
  return words.size();
}

}  // namespace leakgate
