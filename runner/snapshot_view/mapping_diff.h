// What has changed between the mappings of two snapshots of one process. Pure.
//
// A mapping is told by who made it and when: what munmap cuts off is gone, and the rest is
// kept, also in two pieces. One that mremap has made larger is of that call from then on, as
// a block is with realloc.
//
//   before  [ A              ] [ B ]
//   after   [ A ]      [ A   ]       [ C ]     gone: the middle of A, and B; appeared: C
//
// What is only reserved takes no memory, and is left out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runner/snapshot_file/snapshot_facts.h"
#include "runner/snapshot_view/site_changes.h"

namespace leakgate {

// Of one stack, in mappings: what has bytes that are kept, itself is.
using StackChange = std::pair<std::uint32_t, SnapshotChange>;

// `before` and `after`: with ids of stacks that both share. One change for each mapping of
// either.
[[nodiscard]] std::vector<StackChange> CompareMappings(const std::vector<SnapshotMapping>& before,
                                                       const std::vector<SnapshotMapping>& after);

// One mapping, as an amount; none if it is only reserved.
[[nodiscard]] Amount CommittedIn(const SnapshotMapping& mapping);

}  // namespace leakgate
