// How many descriptors this process may still open.
#pragma once

#include <cstddef>

namespace leakgate {

// Each traced image needs some descriptors for as long as it is kept; the reserved ones stay free
// for commands that connect.
struct DescriptorRoom {
  std::size_t limit = 0;     // of this process (ulimit -n)
  std::size_t reserved = 0;  // part of `limit` that traced images may not use

  // Returns whether `count` more can be opened without touching the reserved ones.
  [[nodiscard]] bool Has(std::size_t count) const;
};

[[nodiscard]] DescriptorRoom OwnDescriptorRoom();

}  // namespace leakgate
