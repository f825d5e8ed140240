// How far a run or a merge has come, as text. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace leakgate {

enum class ProgressStage {
  kProgram,     // the program runs, and no test has begun
  kTests,       // it runs its tests
  kConfirming,  // tests are repeated
  kReading,     // results are read
  kWriting,     // a merged report is written
};

struct Progress {
  ProgressStage stage = ProgressStage::kTests;
  std::int64_t done = 0;              // includes the test that is being confirmed
  std::optional<std::int64_t> all{};  // nullopt if not known
  std::int64_t over_budget = 0;       // tests, so far
  std::string current{};              // the test that is running; empty: none, or not known
};

// Returns "leakgate: 1200 of 5000 tests, 2 over budget, 35 s".
[[nodiscard]] std::string ProgressLine(const Progress& progress, std::chrono::seconds elapsed);

// Returns the same with a bar in front, if the number of all is known, and the running test behind.
// It is at most `columns` wide.
[[nodiscard]] std::string ProgressBar(const Progress& progress, std::chrono::seconds elapsed,
                                      std::size_t columns);

}  // namespace leakgate
