// Adds up the changes between two snapshots by call site, and compares their mappings.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runner/region/amount.h"
#include "runner/snapshot/file/snapshot_facts.h"
#include "runner/snapshot/view/site_sums.h"

namespace leakgate {

// The change of one call site, or of all of them.
struct SnapshotChange {
  Amount before;    // live in the first
  Amount after;     // live in the second
  Amount appeared;  // only in the second; known only of one process
  Amount gone;      // only in the first; known only of one process
  // For mappings: how much of them was in memory, as far as that is known.
  std::int64_t resident_before = 0;
  std::int64_t resident_after = 0;

  [[nodiscard]] Amount Growth() const { return after - before; }
  [[nodiscard]] std::int64_t ResidentGrowth() const { return resident_after - resident_before; }
  friend bool operator==(const SnapshotChange&, const SnapshotChange&) = default;
};

SnapshotChange& operator+=(SnapshotChange& a, const SnapshotChange& b);

// What was allocated and freed between two snapshots of one process, by counters.
struct Churn {
  Amount allocated;
  Amount freed;  // whenever it was allocated
  Amount gone;   // allocated and freed in between

  friend bool operator==(const Churn&, const Churn&) = default;
};

Churn& operator+=(Churn& a, const Churn& b);

using SiteChange = Site<SnapshotChange>;
using SiteChurn = Site<Churn>;

// Returns the sites that have changed, the greatest growth first.
[[nodiscard]] std::vector<SiteChange> ChangesOf(SiteSums<SnapshotChange>& sites);
// Returns the sites with the largest churn first.
[[nodiscard]] std::vector<SiteChurn> ChurnsOf(SiteSums<Churn>& sites);

// Returns the churn of a stack that has allocated `allocated` in between, and whose live blocks
// have changed by `change`. A process that runs is counted and copied at slightly different
// moments, so negative results are set to 0.
[[nodiscard]] Churn ChurnOf(Amount allocated, const SnapshotChange& change);

// The rest compares the mappings of two snapshots of one process. Pure.
//
// A mapping is identified by the call that made it and its time. The part that munmap cuts off is
// gone, and the rest is kept, possibly in two pieces. A mapping that mremap has enlarged belongs to
// that call, as a block does after realloc.
//
//   before  [ A              ] [ B ]
//   after   [ A ]      [ A   ]       [ C ]     gone: the middle of A, and B; appeared: C
//
// A mapping that is only reserved is left out, except for the part of it that is in memory
// nevertheless.

// The change of one stack. Its `blocks` are mappings: a mapping is kept if any byte of it is.
using StackChange = std::pair<std::uint32_t, SnapshotChange>;

// Returns a change for each mapping of either. REQUIRES: both have ids of the same stacks.
[[nodiscard]] std::vector<StackChange> CompareMappings(const std::vector<SnapshotMapping>& before,
                                                       const std::vector<SnapshotMapping>& after);

// Returns the amount of one mapping, which is zero if it is only reserved.
[[nodiscard]] Amount CommittedIn(const SnapshotMapping& mapping);
// Returns how much of one mapping is in memory; 0 if it is not known.
[[nodiscard]] std::int64_t ResidentIn(const SnapshotMapping& mapping);

}  // namespace leakgate
