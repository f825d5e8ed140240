// What one `leakgate run` is asked to do, and how it reports its progress.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/base/word_table.h"
#include "runner/budget/budget_file.h"
#include "runner/judge/contents.h"
#include "runner/report/progress_text.h"
#include "runner/result/run_result.h"
#include "runner/run/run_extensions.h"

namespace leakgate {

struct Baseline;

// Tells a display how far a run is. The run sets the source on its main thread; the display asks
// on a thread of its own.
class RunProgress {
 public:
  using Source = std::function<Progress()>;

  // Returns what to show now; nullopt if nothing is under way.
  [[nodiscard]] std::optional<Progress> Now() const {
    const std::lock_guard lock(mutex_);
    return source_ ? std::optional(source_()) : std::nullopt;
  }

  // Replaces the source. After it returns, the earlier source is never asked again.
  void Follow(Source source) {
    const std::lock_guard lock(mutex_);
    source_ = std::move(source);
  }
  void Tell(Progress progress) {
    Follow([progress = std::move(progress)] { return progress; });
  }

  // The run calls `pause` before others take the terminal, for example the shell; after it returns,
  // nothing is shown. It calls `resume` when the terminal is the runner's again. The display sets
  // both before the run; either may be empty.
  std::function<void()> pause;
  std::function<void()> resume;

 private:
  mutable std::mutex mutex_;
  Source source_;
};

// How long the repetitions of tests may take.
struct ConfirmationLimits {
  std::chrono::milliseconds test = std::chrono::seconds(60);  // for all repetitions of one test
  std::chrono::milliseconds run = std::chrono::minutes(5);    // for all tests together
  // For all tests together, as far as none grows each time. It makes the repetitions fewer, so that
  // growth that comes seldom may be missed or stay unconfirmed.
  std::optional<std::chrono::milliseconds> time;
  // What is about to fail for growth is given so long to be freed; 0: no time.
  std::chrono::milliseconds wait = std::chrono::seconds(6);
};

// Who tells of the program's blocks: leakgate's agent, or Windows' own heap tracing (etw_run.h).
enum class HeapEngine { kAgent, kEtw };

template <>
struct WordTable<HeapEngine> {
  static constexpr std::array kWords = {Named{HeapEngine::kAgent, "agent"},
                                        Named{HeapEngine::kEtw, "etw"}};
};

struct RunRequest {
  std::string program;  // as typed: a path, or a name to look up in PATH
  std::vector<std::string> arguments;
  std::vector<std::filesystem::path> budgets;  // files and directories
  std::vector<std::string> wrappers;  // patterns of allocation wrappers, besides the budgets'
  std::optional<std::chrono::milliseconds> timeout;
  std::uint32_t stack_depth = kDefaultStackDepth;  // stacks are cut there; 1 to kMaxStackDepth
  HeapEngine engine = HeapEngine::kAgent;
  std::filesystem::path agent;     // the agent's library
  std::optional<Confirm> confirm;  // for all tests; if not set, budget files decide, else kAfter
  ConfirmationLimits confirmation;
  GateMode mode = GateMode::kGate;
  std::shared_ptr<const Baseline> baseline;  // if null, all findings are new
  RunExtensions extensions;
  ShownContents contents = ShownContents::kFew;
  bool names_all = false;              // whether what passes by proof is symbolised, too
  bool needs_tests = false;            // whether a run of a test binary without tests is in doubt
  bool plants_leak = false;            // whether a test is made to leave kPlantedBytes behind
  RunProgress* progress = nullptr;     // if null, no progress is shown
  std::filesystem::path symbol_cache;  // symbols/symbol_cache.h; if empty, none is used
};

}  // namespace leakgate
