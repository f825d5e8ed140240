// How the blocks of a snapshot fall into groups. Used by SnapshotView.
#pragma once

#include <vector>

#include "runner/snapshot_view/snapshot_view.h"

namespace leakgate {

[[nodiscard]] std::vector<SnapshotGroup> UnsortedGroups(SnapshotView& view, GroupBy by);

// What a call site is called: its function, else "libnet.so+0x1a2b"; not made printable.
[[nodiscard]] std::string NameOfFrame(const Frame& frame);
// What stands for the call site of a stack that has no frames: why there are none.
[[nodiscard]] std::string NameWithoutFrames(std::uint32_t stack);
// "src/net/pool.cc:88"; empty if it is not known.
[[nodiscard]] std::string PlaceOfFrame(const Frame& frame);

}  // namespace leakgate
