// `leakgate session`: its commands' options, and what they come to.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/cli/options.h"

namespace leakgate {

// `--stacks`, of commands that start a session; ReadStacks leaves `events` where it was not
// given. A usage error says what is wrong with it.
void AddStacksOption(CLI::App& command, std::optional<std::string>& stacks);
[[nodiscard]] Expected<void> ReadStacks(const std::optional<std::string>& text,
                                        std::uint32_t& events);

class SessionOptions {
 public:
  // Adds the commands to `app`, which outlives it.
  explicit SessionOptions(CLI::App& app);

  [[nodiscard]] bool is_parsed() const { return session_->parsed(); }
  // `program`: what stands behind the two dashes.
  [[nodiscard]] Expected<Command> Make(const std::vector<std::string>& program) const;

 private:
  using Texts = std::vector<std::string>;

  // As CLI11 has them, before they are checked.
  struct Raw {
    Texts names;
    Texts images;
    Texts pids;
    Texts users;
    Texts dropped_images;
    Texts dropped_pids;
    std::optional<std::string> stack_depth;
    std::optional<std::string> stacks;
    std::string output;
    bool is_json = false;
    bool clears = false;
  };

  [[nodiscard]] Expected<std::string> OneName() const;
  [[nodiscard]] Expected<Command> MakeStart(std::string name, const Texts& program) const;
  [[nodiscard]] Expected<Command> MakeUpdate(std::string name) const;

  Raw raw_;
  CLI::App* session_;
  CLI::App* start_;
  CLI::App* exec_;
  CLI::App* update_;
  CLI::App* query_;
  CLI::App* list_;
  CLI::App* stop_;
};

}  // namespace leakgate
