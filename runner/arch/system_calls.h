// System calls that some processors have in an older form besides the one that all have.
#pragma once

#include <cstdint>

namespace leakgate {

// Returns the number of the form that all processors have, such as epoll_pwait for epoll_wait: it
// waits in the same way, and the arguments that both have are in the same places. Other numbers are
// returned as they are.
[[nodiscard]] std::int64_t NewerFormOf(std::int64_t call);

}  // namespace leakgate
