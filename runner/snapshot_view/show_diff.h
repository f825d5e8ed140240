// What has changed between two snapshots, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "runner/report/style.h"
#include "runner/snapshot_view/snapshot_diff.h"

namespace leakgate {

// `top`: how many of the sites that have grown, and of those that have shrunk; likewise of
// those that have mapped more or less.
[[nodiscard]] std::string DiffText(const SnapshotDiff& diff, std::optional<std::size_t> top,
                                   const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json DiffJson(const SnapshotDiff& diff,
                                              std::optional<std::size_t> top);

}  // namespace leakgate
