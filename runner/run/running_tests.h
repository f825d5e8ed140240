// How many tests of the program have ended, and which is running, as its region has it. The
// program does nothing for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/judge/judge_surroundings.h"
#include "runner/report/progress_text.h"
#include "runner/result/run_result.h"
#include "runner/run/judged_process.h"

namespace leakgate {

class RunningTests {
 public:
  // `all`: none if it is not known. Both outlive it.
  RunningTests(const Generations& generations, std::optional<std::int64_t> all)
      : generations_(generations), all_(all) {}

  // One thread at a time, any; while the program runs or after it.
  [[nodiscard]] Progress Now();

 private:
  void TakeNewWindows(const RegionReader& region);

  const Generations& generations_;
  const std::optional<std::int64_t> all_;
  const JudgedProcess* image_ = nullptr;  // whose windows have been counted
  std::uint32_t next_ = 1;                // its first window that has not
  std::vector<std::uint32_t> open_;       // windows before that which had not ended
  std::int64_t done_ = 0;                 // of all images
};

// How many tests are going to run, where they were listed before the launch, and each runs
// once.
[[nodiscard]] std::optional<std::int64_t> CountTestsToRun(
    const TestSources& listed, const std::vector<std::string>& arguments,
    const std::vector<std::string>& environment);

// Which of a program's tests a process runs, where several share them out. Pure.
// By GoogleTest's own variables, which Bazel sets as well. Nothing where they are
// not set, or not as GoogleTest takes them: it then ends the program itself.
[[nodiscard]] std::optional<Shard> ShardOf(const std::vector<std::string>& environment);

}  // namespace leakgate
