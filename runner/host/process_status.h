// What a run or a session reports of one process that it traces.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/process/process_image.h"
#include "runner/region/region_reader.h"

namespace leakgate {

enum class ProcessState {
  kTracing,
  kStarting,  // it was given a region, but its agent has not started to trace
  kFailed,    // its agent could not trace; `problem` says why
  kDisabled,  // it still runs, but is no longer traced
  kEnded,
};

// What a run or a session reports of one process that it traces.
struct ProcessStatus {
  int pid = 0;
  // Counts the programs that were traced under the PID, whichever processes had it: with the PID it
  // names one program of a run or session.
  std::uint32_t generation = 1;
  ExecutedProgram program{};
  ProcessState state = ProcessState::kTracing;
  std::string problem{};
  std::int64_t begin_seconds = 0;  // since 1970; 0 if unknown
  std::uint64_t start_time = 0;    // as from StartTimeOf; 0 if unknown
  Totals totals{};
  std::uint64_t drops = 0;
  // When tracing began in a running process, in seconds since 1970: earlier allocations are
  // unknown. It is 0 if tracing began with the program.
  std::int64_t attached_seconds = 0;
  std::string recording_problem{};  // why its recording fails; empty if it does not, or is not made
};

// A traced process with its region, as it is given to a command that asks for it.
struct ProcessRegion {
  ProcessStatus status;
  UniqueFd region;  // belongs to this object
};

// Returns the processes that have not been judged yet, the program first. Any thread may call it.
using RunProcesses = std::function<std::vector<ProcessRegion>()>;

enum class ImageLife { kExecuting, kOver };

// Returns the status that `region` tells; the PID, the program and its begin are not in there.
[[nodiscard]] ProcessStatus StatusOf(const RegionReader& region, ImageLife life);

// Says why the agent did not start to trace, and what to do.
[[nodiscard]] std::string AgentFailureText(AgentFailure failure);

// Returns the word for a state in answers and on the screen.
[[nodiscard]] const char* WordOf(ProcessState state);
[[nodiscard]] nlohmann::json ToJson(const ProcessStatus& process);
// A member that is missing in `body`, or is of another type, keeps its default.
[[nodiscard]] ProcessStatus ProcessFromJson(const nlohmann::json& body);

}  // namespace leakgate
