// Reads a source file for a report that quotes it.
#pragma once

#include <optional>
#include <string>

namespace leakgate {

// The text of `file`, a path as debug information tells it. Nullopt for what is no
// regular file, cannot be read or is too large to be a source.
[[nodiscard]] std::optional<std::string> ReadSourceFile(const std::string& file);

}  // namespace leakgate
