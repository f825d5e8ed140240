// How large the kernel's pages are: 4 KiB, or on some processors 16 or 64 KiB.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace leakgate {

[[nodiscard]] inline std::uint64_t PageBytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace leakgate
