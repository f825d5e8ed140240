// One `leakgate run`: launches the program suspended, enables tracing for its
// PID, resumes it, judges windows as they end, and what is left at the end.
//
// Called on the main thread, which is the one that launches, waits and passes
// signals on. The control server and each traced process have a thread each.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/base/expected.h"
#include "runner/budget/budget_file.h"
#include "runner/judgement/baseline.h"
#include "runner/report/run_result.h"
#include "runner/session/run_processes.h"
#include "runner/session/run_progress.h"
#include "runner/session/test_snapshots.h"

namespace leakgate {

// How long repeating tests may take.
struct ConfirmationLimits {
  std::chrono::milliseconds test = std::chrono::seconds(60);  // six repetitions of one
  std::chrono::milliseconds run = std::chrono::minutes(5);    // of all
};

struct RunRequest {
  std::string program;  // as typed: a path, or a name to look up in PATH
  std::vector<std::string> arguments;
  std::vector<std::filesystem::path> budgets;  // files and directories
  std::optional<std::chrono::milliseconds> timeout;
  std::uint32_t stack_depth = kDefaultStackDepth;  // 1 to kMaxStackDepth: where stacks are cut
  std::filesystem::path agent;                     // the agent's library
  std::optional<Confirm> confirm;                  // for all; none: as budget files say, else after
  ConfirmationLimits confirmation;
  GateMode mode = GateMode::kGate;
  std::shared_ptr<const Baseline> baseline;  // none: all that is found is new
  std::shared_ptr<TestSnapshots> snapshots;  // none: none are taken
  RunProgress* progress = nullptr;           // is told how far the run is; none: nobody asks
  ServeRun serve;                            // none: nobody can ask for its processes
};

// The result carries the exit code. An error means that the program did not
// run, or not under the tracer: its exit code says which.
[[nodiscard]] Expected<RunResult> Run(const RunRequest& request);

}  // namespace leakgate
