// The files of baselines' indexes, in "baselines" of the user's cache (base/user_cache.h). Nobody
// is told of a problem with them: whoever wants an index can do without.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runner/results/baseline_index.h"

namespace leakgate {

// Returns where the index of a report belongs; an empty path if the user has no cache. No file or
// folder is made.
[[nodiscard]] std::filesystem::path IndexPathOf(const std::filesystem::path& report);

// Returns nullopt if there is no index, if others may have written it, or if it is damaged.
[[nodiscard]] std::optional<BaselineIndex> OpenIndex(const std::filesystem::path& path);

// Notes in an index that the report, whose bytes are the same, has another version.
void RenewIndex(const std::filesystem::path& path, const IndexedReport& report);

// Writes an index, or leaves what is there. Removes the oldest of very many.
void KeepIndex(const std::filesystem::path& path, const std::string& text);

}  // namespace leakgate
