// A table of a snapshot's groups, as text: those that hold most, and what the rest holds.
#pragma once

#include <optional>
#include <string>

#include "runner/report/style.h"
#include "runner/snapshot_view/snapshot_view.h"

namespace leakgate {

// `top` groups; `depth`: so many frames of stacks at most, all of them without.
[[nodiscard]] std::string GroupsText(SnapshotView& view, GroupBy by, std::size_t top,
                                     std::optional<std::size_t> depth, const TextStyle& style);

}  // namespace leakgate
