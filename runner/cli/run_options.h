// `leakgate run`: its options, and what they come to.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/cli/options.h"

namespace leakgate {

class RunOptions {
 public:
  // Adds the command to `app`, which outlives it.
  explicit RunOptions(CLI::App& app);

  [[nodiscard]] bool is_parsed() const { return run_->parsed(); }
  // `program`: what stands behind the two dashes.
  [[nodiscard]] Expected<Command> Make(const std::vector<std::string>& program) const;

 private:
  // As CLI11 has them, before they are checked.
  struct Raw {
    std::vector<std::string> budgets;
    std::vector<std::string> reports;
    std::string baseline;
    std::string source_root;
    std::string snapshots;
    std::optional<std::string> when;
    std::optional<std::string> timeout;
    std::optional<std::string> stack_depth;
    std::optional<std::string> confirm;
    std::optional<std::string> confirm_test_timeout;
    std::optional<std::string> confirm_run_timeout;
    std::optional<std::string> skip_exit_code;
    std::optional<std::string> progress;
    bool prints_measurements = false;
    bool is_strict = false;
    bool is_warn_only = false;
    bool is_quiet = false;
    bool is_verbose = false;
  };

  [[nodiscard]] Expected<void> ReadGating(RunRequest& request) const;
  [[nodiscard]] Expected<SummaryDetail> ReadDetail() const;
  [[nodiscard]] Expected<SnapshotTests> ReadSnapshotTests() const;

  Raw raw_;
  CLI::App* run_;
};

}  // namespace leakgate
