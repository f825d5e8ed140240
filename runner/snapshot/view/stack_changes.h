// What has changed between two snapshots: the changes of stacks, added up by call site, and
// how those of mappings are found out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/region/amount.h"
#include "runner/snapshot/file/snapshot_facts.h"
#include "runner/snapshot/view/stack_frames.h"

namespace leakgate {

// What one call site has, or all of them.
struct SnapshotChange {
  Amount before;    // live in the first
  Amount after;     // live in the second
  Amount appeared;  // of that, not in the first; of one process only
  Amount gone;      // of the first, not in the second; likewise

  [[nodiscard]] Amount Growth() const { return after - before; }
  friend bool operator==(const SnapshotChange&, const SnapshotChange&) = default;
};

SnapshotChange& operator+=(SnapshotChange& a, const SnapshotChange& b);

struct SiteChange {
  std::string name{};   // not made printable
  std::string place{};  // "src/net/pool.cc:88"; empty if it is not known
  SnapshotChange change{};
  bool is_users = false;  // the site is a frame of the user's own
};

// Whether a call site is the same on another line.
enum class Lines { kTellApart, kMayHaveMoved };

// Call sites by what names them: those of two processes meet here.
class SiteChanges {
 public:
  explicit SiteChanges(Lines lines) : lines_(lines) {}

  // Adds `change` to the call site of `stack`, as `frames` know it.
  void Add(StackFrames& frames, std::uint32_t stack, const SnapshotChange& change);

  [[nodiscard]] const SnapshotChange& total() const { return total_; }
  // Returns the sites that have changed, the greatest growth first. Call it once.
  [[nodiscard]] std::vector<SiteChange> Take();

 private:
  const Lines lines_;
  SnapshotChange total_;
  std::map<std::string, SiteChange> sites_;
};

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

// The change of one stack. Its blocks are mappings: one of which any byte is kept is kept.
using StackChange = std::pair<std::uint32_t, SnapshotChange>;

// `before` and `after`: with ids of stacks that both share. One change for each mapping of
// either.
[[nodiscard]] std::vector<StackChange> CompareMappings(const std::vector<SnapshotMapping>& before,
                                                       const std::vector<SnapshotMapping>& after);

// One mapping, as an amount; none if it is only reserved.
[[nodiscard]] Amount CommittedIn(const SnapshotMapping& mapping);

}  // namespace leakgate
