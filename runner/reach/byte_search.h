// Finds a few bytes that stand one after the other, anywhere in words. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leakgate {

// Returns the number of the first word from `from` on in which the bytes begin; words.size() if
// there is none. They may end in the word behind it. REQUIRES: `wanted` has one to eight bytes.
[[nodiscard]] std::size_t FindBytes(std::span<const std::uint64_t> words, std::size_t from,
                                    std::span<const std::uint8_t> wanted);

}  // namespace leakgate
