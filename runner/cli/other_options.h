// The commands with few options of their own: doctor, framework, completion, man.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "runner/cli/options.h"

namespace leakgate {

class OtherOptions {
 public:
  // Adds the commands to `app`, which outlives it.
  explicit OtherOptions(CLI::App& app);

  [[nodiscard]] bool is_parsed() const;
  // `program`: what stands behind the two dashes.
  [[nodiscard]] Expected<Command> Make(const std::vector<std::string>& program) const;

 private:
  [[nodiscard]] Expected<Command> MakeDoctor(const std::vector<std::string>& program) const;
  [[nodiscard]] Expected<Command> MakeMan() const;

  std::vector<std::string> examined_;
  std::string shell_;
  std::vector<std::string> page_;  // "budget", "check"
  std::string directory_;          // for all pages
  CLI::App* doctor_;
  CLI::App* framework_;
  CLI::App* completion_;
  CLI::App* man_;
};

}  // namespace leakgate
