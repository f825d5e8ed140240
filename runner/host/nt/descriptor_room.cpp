#include "runner/host/descriptor_room.h"

namespace leakgate {

// A process may have 16 million handles.
bool DescriptorRoom::Has(std::size_t) const { return true; }

DescriptorRoom OwnDescriptorRoom() { return {.limit = std::size_t{1} << 24, .reserved = 0}; }

}  // namespace leakgate
