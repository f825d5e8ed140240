// The call tree of a snapshot as text: a line for each frame, indented by its depth.
#pragma once

#include <string>

#include "runner/report/style.h"
#include "runner/snapshot_view/show_snapshot.h"
#include "runner/snapshot_view/snapshot_view.h"

namespace leakgate {

[[nodiscard]] std::string TreeText(SnapshotView& view, const ShowOptions& options,
                                   const TextStyle& style);

}  // namespace leakgate
