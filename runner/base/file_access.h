// Reads and writes an open file at given places, whatever its current position is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runner/base/descriptors.h"

namespace leakgate {

// Reads `size` bytes at `at`. Returns how many there were: fewer at the end of the file, and if
// reading fails.
[[nodiscard]] std::size_t ReadAt(const UniqueFd& file, char* to, std::size_t size,
                                 std::uint64_t at);

// Returns false on failure; errno tells why.
[[nodiscard]] bool WriteAt(const UniqueFd& file, std::string_view bytes, std::uint64_t at);

// Opens a file in the directory for temporary files, which only the user can read, and which is
// gone once it is closed. Returns an empty descriptor on failure; errno tells why.
[[nodiscard]] UniqueFd OpenTemporaryFile();

// Returns the directory for temporary files that the system has where no variable names another.
[[nodiscard]] std::string TemporaryFolder();

}  // namespace leakgate
