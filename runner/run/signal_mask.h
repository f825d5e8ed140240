// The signals that a program begins with blocked, as the system has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace leakgate {

struct SignalMask {
  static constexpr std::size_t kBytes = 128;  // of sigset_t in glibc, the largest that we know

  alignas(std::uint64_t) std::array<std::byte, kBytes> bits{};
};

}  // namespace leakgate
