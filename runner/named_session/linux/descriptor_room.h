// How many descriptors a session's owner may still open. Each traced process takes two for
// as long as it is kept; some must be left for whoever connects, or nobody would be answered.
#pragma once

#include <cstddef>

namespace leakgate {

struct DescriptorRoom {
  std::size_t limit = 0;     // of the process: ulimit -n
  std::size_t reserved = 0;  // of those: not for traced processes

  // Of what is left beside the reserved: as many.
  [[nodiscard]] bool Has(std::size_t count) const;
};

[[nodiscard]] DescriptorRoom OwnDescriptorRoom();

}  // namespace leakgate
