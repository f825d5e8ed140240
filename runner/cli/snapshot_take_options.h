// `leakgate snapshot take`, `periodic` and `config`: their options, and what they come to.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "runner/cli/options.h"

namespace leakgate {

class SnapshotTakeOptions {
 public:
  // Adds the commands to `snapshot`, which outlives it.
  explicit SnapshotTakeOptions(CLI::App& snapshot);

  [[nodiscard]] bool is_parsed() const {
    return take_->parsed() || periodic_->parsed() || config_->parsed();
  }
  [[nodiscard]] Expected<Command> Make() const;

 private:
  using Text = std::optional<std::string>;

  // As CLI11 has them, before they are checked.
  struct Raw {
    Text pid;
    Text image;
    Text session;
    Text stacks;
    std::string output;
    Text every;
    Text kept;
    Text most;
    std::string setting;
    bool is_consistent = false;
  };

  [[nodiscard]] Expected<int> ReadPid() const;
  [[nodiscard]] Expected<std::string> ReadSession(const std::string& otherwise) const;
  [[nodiscard]] SnapshotCare Care() const;
  [[nodiscard]] Expected<Command> MakeTake() const;
  [[nodiscard]] Expected<Command> MakePeriodic() const;
  [[nodiscard]] Expected<Command> MakeConfig() const;

  Raw raw_;
  CLI::App* config_;
  CLI::App* take_;
  CLI::App* periodic_;
};

}  // namespace leakgate
