// The live memory of one process by call site, examined again and again while the process runs:
// what has grown since the first time, and since the previous time.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/region/amount.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/snapshot/view/stack_frames.h"

namespace leakgate {

struct LiveSite {
  std::string name{};   // not made printable
  std::string place{};  // "src/net/pool.cc:88"; empty if it is not known
  bool is_users = false;
  Amount live{};
  Amount grown{};   // since the first time
  Amount recent{};  // since the previous time
};

// The state of the process at one time, in nanoseconds of CLOCK_MONOTONIC.
struct LiveLook {
  std::uint64_t time_ns = 0;
  Amount live{};
  Amount allocated{};  // since tracing began, as the next
  Amount freed{};
};

// It cannot be moved, since its members refer to each other.
class LiveSites {
 public:
  explicit LiveSites(Symbolizer symbolizer);
  LiveSites(const LiveSites&) = delete;
  LiveSites& operator=(const LiveSites&) = delete;

  // Adds a snapshot of the process: the content of a file. Stacks are kept between calls, so each
  // is symbolized once.
  [[nodiscard]] Expected<void> Look(const std::string& snapshot);

  // REQUIRES, as do all functions below: Look has succeeded.
  [[nodiscard]] const SnapshotContents& contents() const { return contents_; }
  [[nodiscard]] const LiveLook& first() const { return first_; }
  [[nodiscard]] const LiveLook& before() const { return before_; }
  [[nodiscard]] const LiveLook& now() const { return now_; }

  // Returns the sites that have live blocks, or had some the first time, in no order.
  [[nodiscard]] std::vector<LiveSite> Sites();

 private:
  struct OfStack {
    Amount first{};
    Amount before{};
    Amount now{};
  };

  SnapshotContents contents_;
  Symbolizer symbolizer_;
  CommonStacks common_;
  StackFrames frames_;
  std::vector<OfStack> stacks_;  // by the id of common_
  bool has_looked_ = false;
  LiveLook first_;
  LiveLook before_;
  LiveLook now_;
};

}  // namespace leakgate
