// `leakgate budget` and `leakgate explain`: their options, and what they come to.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/cli/options.h"

namespace leakgate {

class BudgetOptions {
 public:
  // Adds the commands to `app`, which outlives it.
  explicit BudgetOptions(CLI::App& app);

  [[nodiscard]] bool is_parsed() const { return budget_->parsed() || explain_->parsed(); }
  // `program`: what stands behind the two dashes.
  [[nodiscard]] Expected<Command> Make(const ProgramLine& program) const;

 private:
  // As CLI11 has them, before they are checked.
  struct Raw {
    std::vector<std::string> paths;    // of check
    std::vector<std::string> budgets;  // of ratchet and explain
    std::string component;
    std::string output;
    bool is_check = false;
    std::string test;
    std::optional<std::string> progress;  // of init and ratchet
  };

  [[nodiscard]] Expected<Command> MakeCheck(const ProgramLine& program) const;
  [[nodiscard]] Expected<Command> MakeInit(const ProgramLine& program) const;
  [[nodiscard]] Expected<Command> MakeRatchet(const ProgramLine& program) const;
  [[nodiscard]] Expected<Command> MakeExplain(const ProgramLine& program) const;

  Raw raw_;
  CLI::App* budget_;
  CLI::App* schema_;
  CLI::App* check_;
  CLI::App* init_;
  CLI::App* ratchet_;
  CLI::App* explain_;
};

}  // namespace leakgate
