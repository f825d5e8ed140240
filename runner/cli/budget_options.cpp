#include "runner/cli/budget_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "runner/budget/schema_text.h"
#include "runner/cli/progress_option.h"
#include "runner/cli/repeatable_option.h"

namespace leakgate {
namespace {

using Paths = std::vector<std::filesystem::path>;

void AddBudgetsOption(CLI::App& app, std::vector<std::string>& budgets) {
  Repeatable(app.add_option("--budgets", budgets, "As for leakgate run. Repeatable"), "FILE|DIR");
}

Unexpected NoProgram(std::string_view usage) {
  return UsageError(
      fmt::format("no program to run; write it after two dashes: leakgate {} -- BINARY", usage));
}

bool HasProgram(const ProgramLine& program) { return !program.empty() && !program[0].empty(); }

RunRequest RequestOf(const ProgramLine& program) {
  RunRequest request;
  request.program = program.front();
  request.arguments.assign(program.begin() + 1, program.end());
  return request;
}

}  // namespace

BudgetOptions::BudgetOptions(CLI::App& app)
    : budget_(app.add_subcommand("budget")->require_subcommand(0, 1)),
      schema_(budget_->add_subcommand("schema")),
      check_(budget_->add_subcommand("check")),
      init_(budget_->add_subcommand("init")),
      ratchet_(budget_->add_subcommand("ratchet")),
      explain_(app.add_subcommand("explain")) {
  check_->add_option("paths", raw_.paths)->type_name("FILE|DIR");
  init_->add_option("--component", raw_.component, "Whose tests they are; reports show it")
      ->type_name("NAME");
  init_
      ->add_option("-o,--output", raw_.output, "Default: NAME.leakgate.json. It must not exist yet")
      ->type_name("FILE");
  AddProgressOption(*init_, raw_.progress);
  ratchet_->add_flag("--check", raw_.is_check,
                     "Change nothing; fail if something could be tightened");
  AddBudgetsOption(*ratchet_, raw_.budgets);
  AddProgressOption(*ratchet_, raw_.progress);
  explain_->add_option("test", raw_.test)->type_name("TEST");
  AddBudgetsOption(*explain_, raw_.budgets);
}

Expected<Command> BudgetOptions::MakeCheck(const ProgramLine& program) const {
  if (raw_.paths.empty()) {
    return UsageError("no budget to check; name a file or a directory: leakgate budget check DIR");
  }
  return Command(BudgetCheckCommand{Paths(raw_.paths.begin(), raw_.paths.end()), program});
}

// A component names a file, too.
Expected<Command> BudgetOptions::MakeInit(const ProgramLine& program) const {
  if (raw_.component.find_first_not_of(" \t") == std::string::npos) {
    return UsageError("no component; name it: leakgate budget init --component NAME -- BINARY");
  }
  if (!HasProgram(program)) return NoProgram("budget init --component NAME");
  const Expected<ProgressMode> progress = ParseProgress(raw_.progress);
  if (!progress) return Unexpected(progress.error());
  if (!raw_.output.empty()) {
    return Command(BudgetInitCommand{raw_.component, raw_.output, RequestOf(program), *progress});
  }
  if (raw_.component.find('/') != std::string::npos) {
    return UsageError(
        fmt::format("--component '{}': has a '/'; name the file with -o FILE", raw_.component));
  }
  return Command(BudgetInitCommand{raw_.component, raw_.component + ".leakgate.json",
                                   RequestOf(program), *progress});
}

Expected<Command> BudgetOptions::MakeRatchet(const ProgramLine& program) const {
  if (raw_.budgets.empty()) {
    return UsageError(
        "no budget to tighten; name it: leakgate budget ratchet --budgets DIR -- "
        "BINARY");
  }
  if (!HasProgram(program)) return NoProgram("budget ratchet --budgets DIR");
  BudgetRatchetCommand command;
  command.mode = raw_.is_check ? RatchetMode::kCheck : RatchetMode::kWrite;
  const Expected<ProgressMode> progress = ParseProgress(raw_.progress);
  if (!progress) return Unexpected(progress.error());
  command.progress = *progress;
  command.request = RequestOf(program);
  command.request.budgets.assign(raw_.budgets.begin(), raw_.budgets.end());
  return Command(std::move(command));
}

Expected<Command> BudgetOptions::MakeExplain(const ProgramLine& program) const {
  if (raw_.test.empty()) {
    return UsageError("no test to explain; name it: leakgate explain Suite.Test --budgets DIR");
  }
  return Command(
      ExplainCommand{raw_.test, Paths(raw_.budgets.begin(), raw_.budgets.end()), program});
}

Expected<Command> BudgetOptions::Make(const ProgramLine& program) const {
  if (explain_->parsed()) return MakeExplain(program);
  if (check_->parsed()) return MakeCheck(program);
  if (init_->parsed()) return MakeInit(program);
  if (ratchet_->parsed()) return MakeRatchet(program);
  if (schema_->parsed()) return Command(PrintCommand{std::string(BudgetSchemaText())});
  return UsageError(
      "no command; there are schema, check, init and ratchet; see leakgate budget "
      "--help");
}

}  // namespace leakgate
