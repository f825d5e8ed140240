// The runner's end of a region: creates it, sized in full and sealed, so that
// neither side can shrink it under the other, nor a limit on file size meet it.
#pragma once

#include <memory>

#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/region/region_reader.h"

namespace leakgate {

// The process that a region is for.
struct RegionOwner {
  int pid = 0;
  std::uint32_t generation = 1;  // how often this PID has been traced, this time included
  BoundarySource boundaries = BoundarySource::kStream;  // where they are to come from
  std::uint32_t stack_depth = kDefaultStackDepth;       // where stacks are to be cut
  std::uint32_t stack_events = kDefaultStackEvents;     // whose are recorded
};

class RegionFile {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<RegionFile>> Create(const RegionOwner& owner);

  const UniqueFd& fd() const { return fd_; }
  const RegionReader& reader() const { return *reader_; }
  int pid() const { return pid_; }
  // From now on the agent asks this, too: a kAsk... bit.
  void Ask(std::uint32_t question);
  // With Ask, the one part that the runner writes once the process runs.
  Mailbox& mailbox() {
    return *reinterpret_cast<Mailbox*>(writable_.data() + region_offset::kMailbox);
  }

 private:
  RegionFile() = default;

  int pid_ = 0;
  UniqueFd fd_;
  Mapping writable_;  // header and mailbox
  std::unique_ptr<RegionReader> reader_;
};

}  // namespace leakgate
