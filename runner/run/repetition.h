// Runs one test alone, in a fresh process, several times over, and counts what
// each repetition leaves behind by call site: whether what the test retained in
// the suite's run is built once, or grows.
//
// The process is launched suspended and traced like any other. It has no input
// and its output is dropped; nothing of GoogleTest's environment reaches it, so
// that it writes no result file and runs no other test.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/run/linux/inherited_state.h"
#include "runner/run/preparation.h"
#include "runner/run/run_request.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// How the tests' program is started.
struct RepetitionSetup {
  const RunRequest& request;
  const Preparation& prepared;
  const InheritedState& inherited;
  sigset_t signal_mask;  // for the program to begin with
  Symbolizer& symbolizer;
  std::function<bool()> is_cancelled;  // polled while it waits
};

struct RepetitionRequest {
  std::string test;  // "Suite.Test"
  int repetitions = 6;
  std::chrono::milliseconds timeout{};
  std::set<std::string> call_sites;  // their keys: what to count
  bool may_fail = false;             // the test did not pass in the suite's run, either
};

struct RepetitionResult {
  std::string problem;  // why nothing can be told, one line; empty: it can
  // Net blocks of each repetition but the first. Of the call sites asked for,
  // those that had a live block at the end of any repetition.
  std::map<std::string, std::vector<std::int64_t>> series;
};

// The thread that calls it launches the process and waits for it.
[[nodiscard]] RepetitionResult Repeat(const RepetitionSetup& setup,
                                      const RepetitionRequest& request);

}  // namespace leakgate
