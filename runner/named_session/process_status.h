// What is told of a process that is traced from outside, as values. Pure but for the region
// that is read.
#pragma once

#include <cstdint>
#include <string>

#include "runner/named_session/image_selector.h"
#include "runner/region/region_reader.h"

namespace leakgate {

enum class ProcessState {
  kTracing,
  kStarting,  // given a region, but its agent has not started to trace
  kFailed,    // its agent could not trace; see `problem`
  kDisabled,  // it goes on, and is traced no more
  kEnded,
};

// One process as a session or a run has it, now.
struct ProcessStatus {
  int pid = 0;
  std::uint32_t generation = 1;  // counts the programs of the PID that were traced
  ExecutedProgram program;
  ProcessState state = ProcessState::kTracing;
  std::string problem;
  std::int64_t begin_seconds = 0;  // since 1970; 0: not known
  Totals totals{};
  std::uint64_t drops = 0;
  std::int64_t attached_seconds =
      0;  // since 1970: what it allocated before is not known; 0: all is
};

enum class ImageLife { kExecuting, kOver };

// As `region` tells; its PID, its program and when it began are not there.
[[nodiscard]] ProcessStatus StatusOf(const RegionReader& region, ImageLife life);

}  // namespace leakgate
