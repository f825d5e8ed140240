// What one `leakgate run` is asked for. Values only.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/budget/budget_file.h"
#include "runner/result/run_result.h"

namespace leakgate {

struct Baseline;
class RunProgress;
class TestSnapshots;

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
};

}  // namespace leakgate
