// The size of the kernel's pages, which processors let it choose.
#pragma once

#include <cstdint>

namespace leakgate {

[[nodiscard]] std::uint64_t PageBytes();

}  // namespace leakgate
