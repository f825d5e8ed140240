// What runs and sessions tell of a process that they trace: as a value, as JSON between
// processes, and in words. (What the kernel tells of a process: inspection/linux/.)
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runner/process/process_image.h"
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
  // Since 1970: what it allocated before is not known. 0: all of it is known.
  std::int64_t attached_seconds = 0;
};

enum class ImageLife { kExecuting, kOver };

// The status as `region` tells it: without the PID, the program and when it began.
[[nodiscard]] ProcessStatus StatusOf(const RegionReader& region, ImageLife life);

// Says why the agent did not start to trace, and what to do.
[[nodiscard]] std::string AgentFailureText(AgentFailure failure);
// Says that a region is not whole (RegionReader::IsWhole), and what to do.
[[nodiscard]] std::string DamageText();

// The word of a state in answers and on the screen.
[[nodiscard]] const char* WordOf(ProcessState state);
[[nodiscard]] nlohmann::json ToJson(const ProcessStatus& process);
// What is missing in `body`, or of another type, stays as it is in an empty status.
[[nodiscard]] ProcessStatus ProcessFromJson(const nlohmann::json& body);

}  // namespace leakgate
