// Runs a program that Windows' own heap tracing tells of, instead of leakgate's agent:
//
//   launched suspended     the session is started for its PID, and proved by a real event
//   runs                   events become blocks; modules are noted as they are loaded
//   held before its end    the session's last events are read, the blocks are written into a region
//                          and looked for from the program's memory, as they are for the agent
//   ends                   a second session tells what static objects and libraries free yet
//   ended                  the region has what is left
//
// Events that are lost are counted, and the run is inconclusive.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/run/launcher.h"
#include "runner/run/traced_processes.h"

namespace leakgate {

struct EtwRun {
  LaunchRequest process;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // then the program is killed
};

struct EtwRunEnd {
  ProgramExit exit;
  bool has_timed_out = false;
  std::vector<std::string> doubts;  // a line for each reason why not all was told
};

// Returns an error on a system that has no such tracing. Asks nothing of the system.
[[nodiscard]] Expected<void> RequireEtw();

// The region is of the program's image in `processes`, and judged there. Returns an error if the
// program was not run. Main thread.
[[nodiscard]] Expected<EtwRunEnd> RunTracedByEtw(const EtwRun& run, TracedProcesses& processes);

}  // namespace leakgate
