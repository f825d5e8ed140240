// The size of the kernel's pages. On some processors the kernel can choose it.
#pragma once

#include <cstdint>

namespace leakgate {

[[nodiscard]] std::uint64_t PageBytes();

}  // namespace leakgate
