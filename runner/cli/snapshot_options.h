// `leakgate snapshot`: what reads snapshot files, and what takes them
// (snapshot_take_options.h).
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/cli/options.h"
#include "runner/cli/snapshot_take_options.h"

namespace leakgate {

class SnapshotOptions {
 public:
  // Adds the commands to `app`, which outlives it.
  explicit SnapshotOptions(CLI::App& app);

  [[nodiscard]] bool is_parsed() const { return snapshot_->parsed(); }
  [[nodiscard]] Expected<Command> Make() const;

 private:
  // As CLI11 has them, before they are checked.
  struct Raw {
    std::vector<std::string> files;
    std::vector<std::string> filters;
    std::vector<std::string> budgets;
    std::vector<std::string> symbols;
    std::vector<std::string> since;
    std::optional<std::string> group_by;
    std::optional<std::string> view;
    std::optional<std::string> top;
    std::optional<std::string> depth;
    std::optional<std::string> format;
    std::string output;
    bool is_json = false;
  };

  void AddStacks(CLI::App& command);
  void AddReading(CLI::App& command);
  void AddShow();
  void AddDiff();
  void AddExport();
  [[nodiscard]] Expected<ShowOptions> MakeShowOptions() const;
  [[nodiscard]] SnapshotReading Reading() const;
  [[nodiscard]] SnapshotOutput Output() const;
  [[nodiscard]] Expected<Command> MakeShow() const;
  [[nodiscard]] Expected<Command> MakeDiff() const;
  [[nodiscard]] Expected<Command> MakeExport() const;

  Raw raw_;
  CLI::App* snapshot_;
  SnapshotTakeOptions taking_;
  CLI::App* show_;
  CLI::App* diff_;
  CLI::App* export_;
};

// Whether what follows two dashes is a file as any other: nothing is run.
[[nodiscard]] bool IsSnapshotCommandLine(const std::vector<std::string>& arguments);

}  // namespace leakgate
