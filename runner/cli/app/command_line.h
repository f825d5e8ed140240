// The one definition of leakgate's command line, its commands and their options (definition.cpp),
// and its parser. Help, manual pages and shell completion are written from the definition, too.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/commands/adopt.h"
#include "runner/cli/commands/budget.h"
#include "runner/cli/commands/doctor.h"
#include "runner/cli/commands/documents.h"
#include "runner/cli/commands/history.h"
#include "runner/cli/commands/merge.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/help/help_formats.h"
#include "runner/cli/option_list.h"
#if LEAKGATE_HEAP_TRACING
#include "runner/cli/heap_tracing/etl_snapshot.h"
#include "runner/cli/heap_tracing/image_session.h"
#endif
#if LEAKGATE_HEAP_TRACING || LEAKGATE_PROFILER
#include "runner/cli/heap_tracing/recording_import.h"
#endif
#if LEAKGATE_PROFILER
#include "runner/cli/profiler/commands.h"
#endif

namespace leakgate {

#if !LEAKGATE_PROFILER
template <typename... Gate>
using WithProfiler = std::variant<Gate...>;
template <typename Command>
[[nodiscard]] bool LooksAtSnapshots(const Command&) {
  return false;
}
#endif

// A command line comes to one of these. Each command's file declares its options, checks them
// together, and executes the command.
using Command = WithProfiler<
#if LEAKGATE_HEAP_TRACING
    ImageSessionStartCommand, ImageSessionListCommand, ImageSessionStopCommand,
    ImageSessionUnitCommand, EtlSnapshotCommand,
#endif
#if LEAKGATE_HEAP_TRACING || LEAKGATE_PROFILER
    RecordingImportCommand,
#endif
    RunCommand, AdoptCommand, DoctorCommand, FrameworkCommand, PrintCommand, ShowPageCommand,
    WriteManPagesCommand, BudgetCheckCommand, BudgetInitCommand, BudgetRatchetCommand,
    ExplainCommand, MergeCommand, HistoryAddCommand, HistoryShowCommand, HistoryTrendCommand>;

struct CommandDefinition {
  std::string name;    // "budget check"
  OptionList options;  // reading one of them changes what `complete` returns
  // Returns the command, once all options have been read. It is empty for a command that is
  // only a group of others.
  std::function<Expected<Command>(const ProgramLine& program)> complete;
};

// Returns new definitions at each call. A group stands before its commands.
[[nodiscard]] std::vector<CommandDefinition> DefineCommands();

// Returns the definitions that it takes to parse `arguments`: if they begin with a command, only
// that one's and those below it.
[[nodiscard]] std::vector<CommandDefinition> DefineCommandsFor(
    const std::vector<std::string>& arguments);

// Returns the pages of all commands. The page of leakgate itself is the first, and each group
// stands before its commands.
[[nodiscard]] std::vector<CommandPage> AllPages();

// Returns the options that all commands have: --help, and for leakgate itself --version.
[[nodiscard]] std::vector<Option> GeneralOptions(const std::string& command);

// Returns the command that `arguments` ask for. A usage error names the argument and the remedy.
[[nodiscard]] Expected<Command> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace leakgate
