// `leakgate merge` and `leakgate history`: their options, and what they come to.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/cli/options.h"

namespace leakgate {

class ResultOptions {
 public:
  // Adds the commands to `app`, which outlives it.
  explicit ResultOptions(CLI::App& app);

  [[nodiscard]] bool is_parsed() const { return merge_->parsed() || history_->parsed(); }
  [[nodiscard]] Expected<Command> Make() const;

 private:
  // As CLI11 has them, before they are checked.
  struct Raw {
    std::vector<std::string> results;
    std::vector<std::string> reports;
    std::string output;
    std::optional<std::string> expected;
    std::string baseline;
    std::string source_root;
    std::optional<std::string> progress;
    std::string database;
    std::string commit;
    std::optional<std::string> time;
    std::optional<std::string> component;
    std::optional<std::string> test;
    bool by_component = false;
    bool by_test = false;
    bool by_call_site = false;
    bool is_json = false;
  };

  void AddMerge();
  void AddHistory();
  [[nodiscard]] Expected<Command> MakeMerge() const;
  [[nodiscard]] Expected<Command> MakeHistory() const;
  [[nodiscard]] Expected<Command> MakeTrend() const;
  [[nodiscard]] HistoryOutput Output() const;

  Raw raw_;
  CLI::App* merge_;
  CLI::App* history_;
  CLI::App* add_;
  CLI::App* show_;
  CLI::App* trend_;
};

// Whether what follows two dashes is a result as any other: nothing is run.
[[nodiscard]] bool IsResultCommandLine(const std::vector<std::string>& arguments);

}  // namespace leakgate
