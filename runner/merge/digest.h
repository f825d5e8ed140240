// What tells two values, or two texts, apart: 128 bits of what they say.
#pragma once

#include <cstdint>

namespace leakgate {

// Of a value's content, or of a text's bytes.
struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const Digest&, const Digest&) = default;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

}  // namespace leakgate
