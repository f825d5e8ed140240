// How much memory a process has, by the kernel's word, to check what it claims of its blocks.
#pragma once

#include <cstdint>
#include <optional>

namespace leakgate {

// The least bytes of memory that a block takes, with what its allocator keeps for it.
[[nodiscard]] std::uint64_t LeastBytesOfBlock();

// Returns how many bytes of [begin, begin + bytes) are mapped. Returns nothing if the process has
// ended, or may not be read.
[[nodiscard]] std::optional<std::uint64_t> MappedBytes(int pid, std::uint64_t begin,
                                                       std::uint64_t bytes);

// Returns how many bytes the process has in memory, and elsewhere in exchange for memory. Returns 0
// if that is not known, as when it has ended.
[[nodiscard]] std::uint64_t BytesOfMemory(int pid);

}  // namespace leakgate
