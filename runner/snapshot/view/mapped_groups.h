// The mappings that the program has made itself, in the groups in which blocks are shown, and how
// much of them takes memory.
//
//   Mapped by: call sites
//        MAPPED      BYTES      %  MAPPINGS   RESIDENT   RESERVED  CALL SITE
//       6.0 MiB    6291456  100.0         1    4.0 MiB        0 B  net::Arena::Arena()
//       src/net/arena.cc:12
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/snapshot/view/snapshot_groups.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {

// Amounts of mappings, in bytes. How much is resident, swapped out and lazily freed is known only
// of some mappings; the bytes of the others are `unknown_bytes`.
struct MappedAmount {
  std::int64_t mappings = 0;
  std::int64_t committed_bytes = 0;  // of mappings that can be accessed
  std::int64_t reserved_bytes = 0;   // of those that cannot
  std::int64_t resident_bytes = 0;
  std::int64_t swapped_bytes = 0;
  std::int64_t lazily_freed_bytes = 0;  // also resident
  std::int64_t unknown_bytes = 0;

  // Whether nothing at all is known of its pages.
  [[nodiscard]] bool ArePagesUnknown() const {
    return unknown_bytes != 0 && unknown_bytes >= AddSaturating(committed_bytes, reserved_bytes);
  }
};

MappedAmount& operator+=(MappedAmount& a, const MappedAmount& b);
[[nodiscard]] MappedAmount MappedAmountOf(const SnapshotMapping& mapping);

using MappedGroup = Group<MappedAmount>;

// Returns everything that is mapped, whatever is shown of it.
[[nodiscard]] MappedAmount MappedIn(const SnapshotContents& contents);
// Returns the part that is shown.
[[nodiscard]] MappedAmount ShownMapped(SnapshotView& view);

// Returns all groups, the largest first. REQUIRES: not kFreedBy.
[[nodiscard]] std::vector<MappedGroup> MappedGroupsOf(SnapshotView& view, GroupBy by);

// Returns the stacks that have mapped something, by id, with what they have committed.
[[nodiscard]] std::vector<StackAmount> MappedByStack(SnapshotView& view);

// Returns "4.0 MiB, and 1.0 MiB swapped out", or "not known: the process had ended"; empty if
// nothing is mapped.
[[nodiscard]] std::string ResidentText(const SnapshotContents& contents);

// Returns why pages are not known; empty if they are.
[[nodiscard]] std::string PagesProblem(const SnapshotPages& pages);

}  // namespace leakgate
