// Counts the program's tests that have ended, and finds the running one, by reading its region. The
// program does no work for this.
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
  // `all` is the number of tests, if known. `generations` must outlive this object.
  RunningTests(const Generations& generations, std::optional<std::int64_t> all)
      : generations_(generations), all_(all) {}

  // Returns the progress now. Any thread may call it, one at a time, also after the program's end.
  [[nodiscard]] Progress Now();

 private:
  void TakeNewWindows(const RegionReader& region);

  const Generations& generations_;
  const std::optional<std::int64_t> all_;
  const JudgedProcess* image_ = nullptr;  // the image whose windows are counted
  std::uint32_t next_ = 1;                // its first window that has not been looked at
  std::vector<std::uint32_t> open_;       // windows that had not ended when they were looked at
  std::int64_t done_ = 0;                 // tests that have ended, in all images
};

// Returns how many tests are going to run; nullopt if they were not listed before the launch or may
// run several times.
[[nodiscard]] std::optional<std::int64_t> CountTestsToRun(
    const TestSources& listed, const std::vector<std::string>& arguments,
    const std::vector<std::string>& environment);

}  // namespace leakgate
