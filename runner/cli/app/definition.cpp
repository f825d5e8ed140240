#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "runner/budget/read_budget.h"
#include "runner/cli/app/command_line.h"

namespace leakgate {
namespace {

template <typename Chosen>
CommandDefinition Define(std::string name) {
  auto command = std::make_shared<Chosen>();
  CommandDefinition definition{std::move(name), {}, {}};
  if constexpr (requires { Declare(*command, definition.options); }) {
    Declare(*command, definition.options);
  }
  definition.complete = [command](const ProgramLine& program) -> Expected<Command> {
    if constexpr (requires { Complete(*command, program); }) {
      if (const Expected<void> done = Complete(*command, program); !done) {
        return Unexpected(done.error());
      }
    }
    return Command(std::move(*command));
  };
  return definition;
}

CommandDefinition DefineGroup(std::string name) { return {std::move(name), {}, {}}; }

// Defines a command that only prints a text, which `complete` makes.
template <typename Asked>
CommandDefinition DefineDocument(std::string name,
                                 Expected<Command> (*complete)(const Asked&, const ProgramLine&)) {
  auto asked = std::make_shared<Asked>();
  CommandDefinition definition{std::move(name), {}, {}};
  Declare(*asked, definition.options);
  definition.complete = [asked, complete](const ProgramLine& program) {
    return complete(*asked, program);
  };
  return definition;
}

Expected<Command> CompleteCompletion(const CompletionRequest& request, const ProgramLine& program) {
  if (const auto none = RequireNoProgram("completion", program); !none) {
    return Unexpected(none.error());
  }
  Expected<std::string> text = CompletionText(request, AllPages());
  if (!text) return Unexpected(text.error());
  return Command(PrintCommand{*std::move(text)});
}

Expected<Command> CompleteMan(const ManRequest& request, const ProgramLine& program) {
  if (const auto none = RequireNoProgram("man", program); !none) return Unexpected(none.error());
  if (!request.directory.empty()) {
    return Command(WriteManPagesCommand{request.directory, AllPages()});
  }
  Expected<std::string> text = ManText(request, AllPages());
  if (!text) return Unexpected(text.error());
  return Command(PrintCommand{*std::move(text)});
}

CommandDefinition DefineSchema() {
  return {"budget schema", {}, [](const ProgramLine&) -> Expected<Command> {
            return Command(PrintCommand{std::string(BudgetSchemaText())});
          }};
}

CommandPage MakePage(const CommandProse& prose, const std::vector<CommandDefinition>& commands) {
  CommandPage page{prose, CommandsBelow(prose.name), {}, {}};
  const auto command =
      std::find_if(commands.begin(), commands.end(),
                   [&](const CommandDefinition& it) { return it.name == prose.name; });
  if (command != commands.end()) {
    for (const OptionList::Bound& bound : command->options.all()) {
      (bound.option.IsArgument() ? page.arguments : page.options).push_back(bound.option);
    }
  }
  const std::vector<Option> general = GeneralOptions(prose.name);
  page.options.insert(page.options.end(), general.begin(), general.end());
  return page;
}

}  // namespace

std::vector<CommandDefinition> DefineCommands() {
  return {Define<RunCommand>("run"),
          DefineGroup("budget"),
          DefineSchema(),
          Define<BudgetCheckCommand>("budget check"),
          Define<BudgetInitCommand>("budget init"),
          Define<BudgetRatchetCommand>("budget ratchet"),
          Define<ExplainCommand>("explain"),
          Define<MergeCommand>("merge"),
          DefineGroup("history"),
          Define<HistoryAddCommand>("history add"),
          Define<HistoryShowCommand>("history show"),
          Define<HistoryTrendCommand>("history trend"),
          DefineGroup("session"),
          Define<SessionStartCommand>("session start"),
          Define<SessionExecCommand>("session exec"),
          Define<SessionUpdateCommand>("session update"),
          Define<SessionQueryCommand>("session query"),
          Define<SessionListCommand>("session list"),
          Define<SessionStopCommand>("session stop"),
          DefineGroup("snapshot"),
          Define<SnapshotConfigCommand>("snapshot config"),
          Define<SnapshotTakeCommand>("snapshot take"),
          Define<SnapshotPeriodicCommand>("snapshot periodic"),
          Define<SnapshotShowCommand>("snapshot show"),
          Define<SnapshotDiffCommand>("snapshot diff"),
          Define<SnapshotExportCommand>("snapshot export"),
          Define<DoctorCommand>("doctor"),
          Define<FrameworkCommand>("framework"),
          DefineDocument<CompletionRequest>("completion", CompleteCompletion),
          DefineDocument<ManRequest>("man", CompleteMan)};
}

std::vector<CommandPage> AllPages() {
  const std::vector<CommandDefinition> commands = DefineCommands();
  std::vector<CommandPage> pages;
  for (const CommandProse& prose : AllProse()) pages.push_back(MakePage(prose, commands));
  return pages;
}

std::vector<Option> GeneralOptions(const std::string& command) {
  std::vector<Option> options = {{{"-h", "--help"}, {}, "This text"}};
  if (command.empty()) {
    options.push_back({{"--version"}, {}, "The version, and how it was built"});
  }
  return options;
}

}  // namespace leakgate
