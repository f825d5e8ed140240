#include "runner/cli/budget_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "runner/budget/schema_text.h"
#include "runner/cli/budget_help.h"
#include "runner/cli/one_line.h"
#include "runner/cli/split_arguments.h"

namespace leakgate {
namespace {

using Paths = std::vector<std::filesystem::path>;

// As CLI11 has them, before they are checked.
struct RawBudget {
  std::vector<std::string> paths;    // of check
  std::vector<std::string> budgets;  // of ratchet and explain
  std::string component;
  std::string output;
  bool is_check = false;
  std::string test;
};

void AddBudgetsOption(CLI::App& app, RawBudget& raw) {
  app.add_option("--budgets", raw.budgets)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// The parser of one command line, and which subcommand it found.
struct Parser {
  explicit Parser(RawBudget& raw) {
    app.require_subcommand(0, 1);
    budget->require_subcommand(0, 1);
    check->add_option("paths", raw.paths);
    init->add_option("--component", raw.component);
    init->add_option("-o,--output", raw.output);
    ratchet->add_flag("--check", raw.is_check);
    AddBudgetsOption(*ratchet, raw);
    explain->add_option("test", raw.test);
    AddBudgetsOption(*explain, raw);
  }

  [[nodiscard]] std::string Help() const {
    if (explain->parsed()) return ExplainHelpText();
    if (check->parsed()) return BudgetCheckHelpText();
    if (init->parsed()) return BudgetInitHelpText();
    if (ratchet->parsed()) return BudgetRatchetHelpText();
    return BudgetHelpText();
  }

  CLI::App app;
  CLI::App* budget = app.add_subcommand("budget");
  CLI::App* schema = budget->add_subcommand("schema");
  CLI::App* check = budget->add_subcommand("check");
  CLI::App* init = budget->add_subcommand("init");
  CLI::App* ratchet = budget->add_subcommand("ratchet");
  CLI::App* explain = app.add_subcommand("explain");
};

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

Expected<Command> MakeCheck(const RawBudget& raw, const ProgramLine& program) {
  if (raw.paths.empty()) {
    return UsageError("no budget to check; name a file or a directory: leakgate budget check DIR");
  }
  return Command(BudgetCheckCommand{Paths(raw.paths.begin(), raw.paths.end()), program});
}

// A component names a file, too.
Expected<Command> MakeInit(const RawBudget& raw, const ProgramLine& program) {
  if (raw.component.find_first_not_of(" \t") == std::string::npos) {
    return UsageError("no component; name it: leakgate budget init --component NAME -- BINARY");
  }
  if (!HasProgram(program)) return NoProgram("budget init --component NAME");
  if (!raw.output.empty()) {
    return Command(BudgetInitCommand{raw.component, raw.output, RequestOf(program)});
  }
  if (raw.component.find('/') != std::string::npos) {
    return UsageError(
        fmt::format("--component '{}': has a '/'; name the file with -o FILE", raw.component));
  }
  return Command(
      BudgetInitCommand{raw.component, raw.component + ".leakgate.json", RequestOf(program)});
}

Expected<Command> MakeRatchet(const RawBudget& raw, const ProgramLine& program) {
  if (raw.budgets.empty()) {
    return UsageError(
        "no budget to tighten; name it: leakgate budget ratchet --budgets DIR -- "
        "BINARY");
  }
  if (!HasProgram(program)) return NoProgram("budget ratchet --budgets DIR");
  BudgetRatchetCommand command;
  command.mode = raw.is_check ? RatchetMode::kCheck : RatchetMode::kWrite;
  command.request = RequestOf(program);
  command.request.budgets.assign(raw.budgets.begin(), raw.budgets.end());
  return Command(std::move(command));
}

Expected<Command> MakeExplain(const RawBudget& raw, const ProgramLine& program) {
  if (raw.test.empty()) {
    return UsageError("no test to explain; name it: leakgate explain Suite.Test --budgets DIR");
  }
  return Command(ExplainCommand{raw.test, Paths(raw.budgets.begin(), raw.budgets.end()), program});
}

}  // namespace

bool IsBudgetCommandLine(const std::vector<std::string>& arguments) {
  return !arguments.empty() && (arguments[0] == "budget" || arguments[0] == "explain");
}

Expected<Command> ParseBudgetCommandLine(const std::vector<std::string>& arguments) {
  RawBudget raw;
  Parser parser(raw);
  SplitArguments split = Split(arguments);
  std::reverse(split.options.begin(), split.options.end());  // as CLI11 wants them
  try {
    parser.app.parse(split.options);
  } catch (const CLI::CallForHelp&) {
    return Command(PrintCommand{parser.Help()});
  } catch (const CLI::ParseError& error) {
    return UsageError(
        fmt::format("{}; see leakgate {} --help", OneLine(error.what()), arguments[0]));
  }
  if (parser.explain->parsed()) return MakeExplain(raw, split.program);
  if (parser.check->parsed()) return MakeCheck(raw, split.program);
  if (parser.init->parsed()) return MakeInit(raw, split.program);
  if (parser.ratchet->parsed()) return MakeRatchet(raw, split.program);
  if (parser.schema->parsed()) return Command(PrintCommand{std::string(BudgetSchemaText())});
  return UsageError(
      "no command; there are schema, check, init and ratchet; see leakgate budget "
      "--help");
}

}  // namespace leakgate
