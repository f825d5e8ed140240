// How much memory another process takes. Any thread may ask.
#pragma once

#include <cstdint>

namespace leakgate {

// The memory that the process has for itself alone, without what it shares with others, as its
// region; 0 if it has ended.
[[nodiscard]] std::uint64_t OwnBytesOf(int pid);

}  // namespace leakgate
