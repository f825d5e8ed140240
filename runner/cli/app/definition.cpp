#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "runner/budget/read_budget.h"
#include "runner/budget/wording.h"
#include "runner/cli/app/command_line.h"
#include "runner/cli/installation.h"
#if LEAKGATE_HEAP_TRACING
#include "runner/cli/heap_tracing/tracing_prose.h"
#endif
#if LEAKGATE_PROFILER
#include "runner/cli/profiler/files_of_tests.h"
#endif

namespace leakgate {
namespace {

#if LEAKGATE_HEAP_TRACING && LEAKGATE_PROFILER
// What leakgate run and leakgate record trace: no session has it on this system.
std::string ListRuns(OutputForm form) {
  const Survey survey = SurveySessionsAndRuns();
  if (form == OutputForm::kText && survey.runs.empty()) return "";
  return form == OutputForm::kJson ? SessionListJson(survey.sessions, survey.runs, FindOrphans())
                                   : SessionListText(survey.sessions, survey.runs, FindOrphans());
}
#endif

// Puts the profiler into the runs of a command, if leakgate is built with one.
template <typename Chosen>
void AddProfiler([[maybe_unused]] Chosen& command) {
#if LEAKGATE_PROFILER
  if constexpr (requires { command.request.extensions; }) {
    command.request.extensions = ProfilerExtensions();
  }
  if constexpr (requires { command.addition; }) {
    command.addition = std::make_shared<FilesOfTests>();
  }
#if LEAKGATE_HEAP_TRACING
  if constexpr (requires { command.others; }) command.others = ListRuns;
#endif
#endif
}

template <typename Chosen>
CommandDefinition Define(std::string name) {
  auto command = std::make_shared<Chosen>();
  AddProfiler(*command);
  CommandDefinition definition{std::move(name), {}, {}};
  if constexpr (requires { Declare(*command, definition.options); }) {
    Declare(*command, definition.options);
  }
  definition.complete = [command](const ProgramLine& program) -> Expected<Command> {
    if constexpr (requires { Complete(*command, program); }) {
      LEAKGATE_TRY(Complete(*command, program));
    }
    return Command(std::move(*command));
  };
  return definition;
}

CommandDefinition DefineGroup(std::string name) { return {std::move(name), {}, {}}; }

std::string_view WithoutEnding(std::string_view page) {
  return page.substr(0, page.ends_with(".md") ? page.size() - 3 : page.size());
}

Expected<Command> CompleteHelp(const HelpRequest& request, const ProgramLine& program) {
  LEAKGATE_TRY(RequireNoProgram("help", program));
  const std::vector<CommandPage> pages = AllPages();
  if (request.words.empty()) {
    return Command(PrintCommand{HelpText(pages.front(), pages) + '\n' + DocumentPagesText()});
  }
  const std::string name = fmt::format("{}", fmt::join(request.words, " "));
  std::vector<std::string_view> known;
  for (const CommandPage& page : pages) {
    if (page.prose.name == name) return Command(PrintCommand{HelpText(page, pages)});
    known.push_back(page.prose.name);
  }
  for (const Term& page : DocumentPages()) {
    const std::string_view topic = WithoutEnding(page.term);
    if (topic == WithoutEnding(name))
      return Command(ShowPageCommand{FindDocument(std::string(topic))});
    known.push_back(topic);
  }
  const std::optional<std::string_view> nearest = FindNearestWord(name, known);
  return UsageError(fmt::format("no command and no page has the name '{}'{}; see leakgate help",
                                name, nearest ? fmt::format(" (did you mean {}?)", *nearest) : ""));
}

Expected<Command> CompleteCompletion(const CompletionRequest& request, const ProgramLine& program) {
  LEAKGATE_TRY(RequireNoProgram("completion", program));
  LEAKGATE_TRY_ASSIGN(std::string text, CompletionText(request, AllPages()));
  return Command(PrintCommand{std::move(text)});
}

Expected<Command> CompleteMan(const ManRequest& request, const ProgramLine& program) {
  LEAKGATE_TRY(RequireNoProgram("man", program));
  if (!request.directory.empty()) {
    return Command(WriteManPagesCommand{request.directory, AllPages()});
  }
  LEAKGATE_TRY_ASSIGN(std::string text, ManText(request, AllPages()));
  return Command(PrintCommand{std::move(text)});
}

CommandDefinition DefineSchema(std::string name) {
  return {std::move(name), {}, [](const ProgramLine&) -> Expected<Command> {
            return Command(PrintCommand{std::string(BudgetSchemaText())});
          }};
}

// Defines a command that only prints a text, which `complete` makes.
template <typename Asked, Expected<Command> (*complete)(const Asked&, const ProgramLine&)>
CommandDefinition DefineDocument(std::string name) {
  auto asked = std::make_shared<Asked>();
  CommandDefinition definition{std::move(name), {}, {}};
  Declare(*asked, definition.options);
  definition.complete = [asked](const ProgramLine& program) { return complete(*asked, program); };
  return definition;
}

#if LEAKGATE_HEAP_TRACING && LEAKGATE_PROFILER
// With --etl, wpr takes the snapshot.
CommandDefinition DefineSnapshotTake(std::string name) {
  auto own = std::make_shared<SnapshotTakeCommand>();
  auto of_wpr = std::make_shared<EtlSnapshotCommand>();
  CommandDefinition definition{std::move(name), {}, {}};
  Declare(*own, definition.options);
  DeclareEtl(*of_wpr, definition.options);
  definition.complete = [own, of_wpr](const ProgramLine& program) -> Expected<Command> {
    if (of_wpr->etl.empty()) {
      LEAKGATE_TRY(Complete(*own, program));
      return Command(std::move(*own));
    }
    of_wpr->pid = own->pid.value_or(0);
    LEAKGATE_TRY(Complete(*of_wpr, program));
    return Command(std::move(*of_wpr));
  };
  return definition;
}
#endif

// A command is defined where it is asked for: most command lines ask for one.
struct DefinedCommand {
  std::string_view name;
  CommandDefinition (*define)(std::string name);
};

constexpr DefinedCommand kCommands[] = {
    {"run", Define<RunCommand>},
    {"adopt", Define<AdoptCommand>},
    {"budget", DefineGroup},
    {"budget schema", DefineSchema},
    {"budget check", Define<BudgetCheckCommand>},
    {"budget init", Define<BudgetInitCommand>},
    {"budget ratchet", Define<BudgetRatchetCommand>},
    {"explain", Define<ExplainCommand>},
    {"merge", Define<MergeCommand>},
    {"history", DefineGroup},
    {"history add", Define<HistoryAddCommand>},
    {"history show", Define<HistoryShowCommand>},
    {"history trend", Define<HistoryTrendCommand>},
#if LEAKGATE_HEAP_TRACING
    {"session", DefineGroup},
    {"session start", Define<ImageSessionStartCommand>},
    {"session list", Define<ImageSessionListCommand>},
    {"session stop", Define<ImageSessionStopCommand>},
    {"session unit", Define<ImageSessionUnitCommand>},
#elif LEAKGATE_PROFILER
    {"session", DefineGroup},
    {"session start", Define<SessionStartCommand>},
    {"session exec", Define<SessionExecCommand>},
    {"session update", Define<SessionUpdateCommand>},
    {"session query", Define<SessionQueryCommand>},
    {"session list", Define<SessionListCommand>},
    {"session stop", Define<SessionStopCommand>},
    {"session unit", Define<SessionUnitCommand>},
#endif
#if LEAKGATE_PROFILER
    {"snapshot", DefineGroup},
    {"snapshot config", Define<SnapshotConfigCommand>},
#if LEAKGATE_HEAP_TRACING
    {"snapshot take", DefineSnapshotTake},
#else
    {"snapshot take", Define<SnapshotTakeCommand>},
#endif
    {"snapshot periodic", Define<SnapshotPeriodicCommand>},
    {"snapshot show", Define<SnapshotShowCommand>},
    {"snapshot diff", Define<SnapshotDiffCommand>},
    {"snapshot export", Define<SnapshotExportCommand>},
    {"snapshot bundle", Define<SnapshotBundleCommand>},
    {"record", Define<RecordCommand>},
    {"recording", DefineGroup},
    {"recording show", Define<RecordingShowCommand>},
    {"recording diff", Define<RecordingDiffCommand>},
    {"recording export", Define<RecordingExportCommand>},
    {"recording import", Define<RecordingImportCommand>},
    {"recording pause", Define<RecordingSwitchCommand<RecordingSwitch::kPause>>},
    {"recording continue", Define<RecordingSwitchCommand<RecordingSwitch::kContinue>>},
    {"recording stop", Define<RecordingSwitchCommand<RecordingSwitch::kStop>>},
    {"top", Define<TopCommand>},
#elif LEAKGATE_HEAP_TRACING
    {"snapshot", DefineGroup},
    {"snapshot take", Define<EtlSnapshotCommand>},
    {"recording", DefineGroup},
    {"recording import", Define<RecordingImportCommand>},
#endif
    {"doctor", Define<DoctorCommand>},
    {"framework", Define<FrameworkCommand>},
    {"help", DefineDocument<HelpRequest, CompleteHelp>},
    {"completion", DefineDocument<CompletionRequest, CompleteCompletion>},
    {"man", DefineDocument<ManRequest, CompleteMan>},
};

std::string_view FirstWord(std::string_view name) { return name.substr(0, name.find(' ')); }

// The command of a usage such as "leakgate run [OPTIONS]".
std::string_view CommandIn(std::string_view usage) {
  usage.remove_prefix(std::min(usage.find(' '), usage.size() - 1) + 1);
  return FirstWord(usage);
}

// A gate alone has the prose of a profiler's commands, but not the commands.
bool IsDefined(std::string_view name, const std::vector<CommandDefinition>& commands) {
  return name.empty() || std::any_of(commands.begin(), commands.end(),
                                     [&](const auto& command) { return command.name == name; });
}

CommandPage MakePage(const CommandProse& prose, const std::vector<CommandDefinition>& commands) {
  CommandPage page{prose, CommandsBelow(prose.name), {}, {}};
  std::erase_if(page.commands, [&](const auto& name) { return !IsDefined(name, commands); });
  if (prose.name.empty()) {
    std::erase_if(page.prose.usages,
                  [&](const auto& usage) { return !IsDefined(CommandIn(usage), commands); });
  }
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
  std::vector<CommandDefinition> commands;
  for (const DefinedCommand& command : kCommands) {
    commands.push_back(command.define(std::string(command.name)));
  }
  return commands;
}

std::vector<CommandDefinition> DefineCommandsFor(const std::vector<std::string>& arguments) {
  std::vector<CommandDefinition> commands;
  if (arguments.empty()) return commands;
  for (const DefinedCommand& command : kCommands) {
    if (FirstWord(command.name) != arguments.front()) continue;
    commands.push_back(command.define(std::string(command.name)));
  }
  if (commands.empty() && arguments.size() > 1) return DefineCommands();
  return commands;
}

std::vector<CommandPage> AllPages() {
  const std::vector<CommandDefinition> commands = DefineCommands();
  std::vector<CommandPage> pages;
  for (const CommandProse& prose : AllProse()) {
    if (IsDefined(prose.name, commands)) pages.push_back(MakePage(prose, commands));
  }
#if LEAKGATE_HEAP_TRACING
  for (const CommandProse& prose : HeapTracingProse()) {
    if (LEAKGATE_PROFILER && !prose.name.starts_with("session")) continue;  // it has its own
    const auto page = std::find_if(pages.begin(), pages.end(), [&](const CommandPage& it) {
      return it.prose.name == prose.name;
    });
    if (page != pages.end()) *page = MakePage(prose, commands);
  }
#endif
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
