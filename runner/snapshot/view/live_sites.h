// What is live in one process by call site, looked at again and again while the process runs: what
// has grown since the first look, and since the look before.
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
  Amount grown{};   // since the first look
  Amount recent{};  // since the look before
};

// One look: when it was, in nanoseconds of CLOCK_MONOTONIC, and what the process had then.
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

  // Takes in a snapshot of the process: the content of a file. Stacks are kept from look to look,
  // so each is symbolized once.
  [[nodiscard]] Expected<void> Look(const std::string& snapshot);

  // REQUIRES, as all that follows: Look has succeeded.
  [[nodiscard]] const SnapshotContents& contents() const { return contents_; }
  [[nodiscard]] const LiveLook& first() const { return first_; }
  [[nodiscard]] const LiveLook& before() const { return before_; }
  [[nodiscard]] const LiveLook& now() const { return now_; }

  // Returns the sites that have live blocks, or had some at the first look, in no order.
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
