// Finds the place of a database's file.
#pragma once

#include <filesystem>
#include <string_view>

#include "runner/base/expected.h"

namespace leakgate {

// Returns the error that a file is no database of leakgate's.
[[nodiscard]] Unexpected Unusable(const std::filesystem::path& path, std::string_view cause);

enum class DatabaseUse { kRead, kWrite };

// SQLite takes only a path, and would wait for a writer of a FIFO. So the way to the file is walked
// first: the result has no links, and SQLite is told to follow none. A new file is created here,
// where it is certain who owns it.
[[nodiscard]] Expected<std::filesystem::path> PlaceOf(const std::filesystem::path& path,
                                                      DatabaseUse use);

}  // namespace leakgate
