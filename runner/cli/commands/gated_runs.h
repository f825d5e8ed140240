// Runs `leakgate run` on one program after another, as a user would, and reads what it reports.
// `leakgate adopt` does this.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/results/result_file.h"
#include "runner/run/ctest_listing.h"

namespace leakgate {

class GatedRuns {
 public:
  struct Gate {
    std::vector<std::string> options{};  // of leakgate run
    std::optional<int> seed{};           // shuffles the tests
  };
  struct Run {
    RunResult result;
    RunPlace place;  // of its report, which is kept as long as the directory
  };

  // `scratch` is a directory for reports.
  explicit GatedRuns(std::filesystem::path scratch) : scratch_(std::move(scratch)) {}

  // Returns an error if the program could not be run under the gate, and prints the end of what it
  // said.
  [[nodiscard]] Expected<Run> RunOnce(const CtestCommand& program, const Gate& gate);

  // Notes what of the result no budget can make green. REQUIRES: no leak was planted.
  void NoteTroubles(const CtestCommand& program, const RunResult& result);
  // Each is a line for one trouble: tests that fail themselves, and what could not be measured.
  const std::set<std::string>& failing() const { return failing_; }
  const std::set<std::string>& unmeasured() const { return unmeasured_; }

 private:
  const std::filesystem::path scratch_;
  std::set<std::string> failing_;
  std::set<std::string> unmeasured_;
  int runs_ = 0;
};

}  // namespace leakgate
