// What has changed between two snapshots, added up by call site. Used by the comparisons of
// blocks and of mappings.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/region/amount.h"
#include "runner/snapshot_view/stack_frames.h"

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

  // To the site of `stack`, as `frames` know it.
  void Add(StackFrames& frames, std::uint32_t stack, const SnapshotChange& change);

  [[nodiscard]] const SnapshotChange& total() const { return total_; }
  // Those that have changed, the greatest growth first. Once.
  [[nodiscard]] std::vector<SiteChange> Take();

 private:
  const Lines lines_;
  SnapshotChange total_;
  std::map<std::string, SiteChange> sites_;
};

}  // namespace leakgate
