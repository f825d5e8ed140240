// Groups the blocks of a snapshot, and names the groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/region/amount.h"
#include "runner/snapshot/view/groups.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {

using SnapshotGroup = Group<Amount>;

// Returns all groups, the largest first.
[[nodiscard]] std::vector<SnapshotGroup> GroupsOf(SnapshotView& view, GroupBy by);

// Returns "in HttpTest.KeepAlive", or "in several windows, from A to B".
[[nodiscard]] std::string WindowsText(const SnapshotContents& contents, WindowRange windows);

// Returns "began 2.31 s before, still open" for a window.
[[nodiscard]] std::string WhenText(const SnapshotContents& contents, std::uint32_t id);

// Returns the word for a kind of allocation, by its number.
[[nodiscard]] std::string NameOfKind(std::size_t kind);

// Returns "17 B to 32 B": the sizes of a class of SnapshotTally's.
[[nodiscard]] std::string SizeClassText(std::size_t size_class);

}  // namespace leakgate
