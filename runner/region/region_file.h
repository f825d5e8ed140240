// Creates a region, and holds the runner's end of it. The file has its full size from the beginning
// and is sealed, so neither side can shrink it while the other uses it, and no limit on file sizes
// applies later.
#pragma once

#include <memory>
#include <vector>

#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/process/entry_hooks.h"
#include "runner/region/event_buffers.h"
#include "runner/region/region_reader.h"

namespace leakgate {

// The process that a region is for.
struct RegionOwner {
  int pid = 0;
  std::uint32_t generation = 1;  // how often this PID has been traced, this time included
  BoundarySource boundaries = BoundarySource::kStream;  // where test boundaries come from
  std::uint32_t stack_depth = kDefaultStackDepth;       // the most frames that a stack has
  std::uint32_t stack_events = kDefaultStackEvents;     // the events whose stacks are recorded
  EventRequest events{};                                // whether each event is recorded, and how
  bool counts_temporary = false;    // whether temporary blocks are counted (Totals)
  std::vector<NamedEntry> named{};  // functions that budget files name, in the executable
};

class RegionFile {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<RegionFile>> Create(const RegionOwner& owner);

  const UniqueFd& fd() const { return fd_; }
  // Returns a descriptor of the caller's own.
  [[nodiscard]] UniqueFd DuplicateFd() const;
  const RegionReader& reader() const { return *reader_; }
  int pid() const { return pid_; }
  // Returns how much memory the file takes now: only the written parts of its size.
  [[nodiscard]] std::uint64_t HeldBytes() const;
  // Makes the agent ask one more question from now on; `question` is a kAsk... bit.
  void Ask(std::uint32_t question);
  // Makes the agent ask nothing at the end of iterations before this one.
  void AskFromIteration(std::uint32_t iteration);
  // Makes the agent ask nothing any more except for verdicts.
  void StopAsking();
  // Apart from what these functions set, the mailbox is all that the runner writes once the process
  // runs.
  Mailbox& mailbox() {
    return *reinterpret_cast<Mailbox*>(writable_.data() + region_offset::kMailbox);
  }

 private:
  RegionFile() = default;

  // Writes what the agent is to know. REQUIRES: `writable_` is mapped.
  void FillHeader(const RegionOwner& owner);

  int pid_ = 0;
  UniqueFd fd_;
  Mapping writable_;  // header and mailbox
  std::unique_ptr<RegionReader> reader_;
};

}  // namespace leakgate
