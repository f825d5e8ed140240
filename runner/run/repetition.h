// What a repeated test is run with: variables and arguments of the suite's run without those that
// choose or report tests, and a directory for its files.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/run/linux/launcher.h"
#include "runner/run/preparation.h"
#include "runner/run/run_request.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// Returns `environment` without what GoogleTest and test runners pass by environment. Pure.
[[nodiscard]] std::vector<std::string> WithoutTestVariables(std::vector<std::string> environment);

// Returns `arguments` without those that choose, repeat, order or report tests. Pure.
[[nodiscard]] std::vector<std::string> WithoutTestSelection(std::vector<std::string> arguments);

// A directory of its own for the files that a repeated test writes, where the user has named one
// (TEST_TMPDIR): it is removed with all that is in it.
class ScratchDirectory {
 public:
  // In TEST_TMPDIR; none if that is not set or nothing can be made there.
  [[nodiscard]] static ScratchDirectory BesideTestTmpdir();
  ~ScratchDirectory();
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;

  // Empty: there is none.
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

// Runs one test alone, in a fresh process, several times over, and counts what
// each repetition leaves behind by call site: whether what the test retained in
// the suite's run is built once, or grows.
//
// The process is launched suspended and traced like any other. It has no input
// and its output is dropped; nothing of GoogleTest's environment reaches it, so
// that it writes no result file and runs no other test.

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
