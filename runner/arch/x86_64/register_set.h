// The general registers as ptrace returns them.
#pragma once

#include <sys/user.h>

#include <cstdint>

namespace leakgate {

using RegisterSet = user_regs_struct;

inline constexpr std::uint64_t kRedZoneBytes = 128;

}  // namespace leakgate
