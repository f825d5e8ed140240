#include "runner/cli/app/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string_view>

#include "runner/budget/wording.h"
#include "runner/cli/help/help_formats.h"
#include "runner/cli/installation.h"

namespace leakgate {
namespace {

// The values of one option that CLI11 has found.
struct FoundOption {
  const OptionList::Bound* bound;
  bool is_set = false;                // of a flag
  std::optional<std::string> text{};  // of what is given once at most
  std::vector<std::string> texts{};   // of what is repeated
};

// CLI11's view of the commands. It only finds out which argument belongs to which option.
class Parser {
 public:
  explicit Parser(const std::vector<CommandDefinition>& commands) {
    app_.set_help_flag("-h,--help");
    app_.set_version_flag("--version", VersionText());
    app_.require_subcommand(0, 1);
    app_.allow_windows_style_options(false);  // a path may begin with a slash
    app_.allow_extras();                      // commands inherit all of this but the version
    apps_[""] = &app_;
    for (const CommandDefinition& command : commands) Add(command);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  void Parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app_.parse(arguments);
  }

  // Returns the full name of the command that was found, "budget check"; empty if there is none.
  std::string FoundName() const {
    std::string name;
    const CLI::App* command = &app_;
    while (!command->get_subcommands().empty()) {
      command = command->get_subcommands().front();
      name += (name.empty() ? "" : " ") + command->get_name();
    }
    return name;
  }

  // Returns the arguments that CLI11 could not place.
  std::vector<std::string> StrayArguments() const { return app_.remaining(true); }

  // Reads the values that the command was given into its own fields.
  Expected<void> ReadValues(const std::string& command) const {
    for (const FoundOption& found : options_.at(command)) {
      if (Expected<void> read = ReadValuesOf(found); !read) return read;
    }
    return {};
  }

 private:
  void Add(const CommandDefinition& command) {
    const std::size_t space = command.name.rfind(' ');
    const bool is_top = space == std::string::npos;
    CLI::App* const parent = apps_.at(is_top ? "" : command.name.substr(0, space));
    CLI::App* const app = parent->add_subcommand(LastWord(command.name));
    apps_[command.name] = app;
    std::deque<FoundOption>& found = options_[command.name];
    for (const OptionList::Bound& bound : command.options.all()) {
      found.push_back({&bound});
      AddOption(found.back(), *app);
    }
  }

  static void AddOption(FoundOption& found, CLI::App& app) {
    const Option& option = found.bound->option;
    const std::string names = fmt::format("{}", fmt::join(option.names, ","));
    if (IsFlag(option)) {
      app.add_flag(names, found.is_set);
    } else if (!option.is_repeated) {
      app.add_option(names, found.text)->type_name(option.value.word);
    } else {
      CLI::Option* const added = app.add_option(names, found.texts)->type_name(option.value.word);
      if (option.IsArgument()) return;
      // The option takes one value each time. What follows that is not the option's, and may be a
      // file.
      added->expected(1)->allow_extra_args(false)->multi_option_policy(
          CLI::MultiOptionPolicy::TakeAll);
    }
  }

  static Expected<void> ReadValuesOf(const FoundOption& found) {
    if (found.is_set) return found.bound->read("");
    if (found.text) return found.bound->read(*found.text);
    for (const std::string& text : found.texts) {
      if (Expected<void> read = found.bound->read(text); !read) return read;
    }
    return {};
  }

  CLI::App app_;
  std::map<std::string, CLI::App*> apps_;
  std::map<std::string, std::deque<FoundOption>> options_;  // which CLI11 points to
};

// The two halves of a command line: the arguments before the first `--`, and the program with its
// arguments behind it.
struct Halves {
  std::vector<std::string> options;
  ProgramLine program;
};

// Returns whether the command runs no program: then what follows two dashes is a path like any
// other.
bool TakesPathsBehindDashes(const std::string& command) {
  return command == "merge" || command == "history" || command == "snapshot";
}

Halves Split(const std::vector<std::string>& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  Halves halves{{arguments.begin(), dashes}, {}};
  if (dashes != arguments.end()) halves.program.assign(dashes + 1, arguments.end());
  if (arguments.empty() || !TakesPathsBehindDashes(arguments.front())) return halves;
  for (const std::string& path : halves.program) {
    halves.options.push_back(path.starts_with('-') ? "./" + path : path);
  }
  halves.program.clear();
  return halves;
}

std::string_view WithoutDashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

// Returns " (did you mean --report?)", or "" if no known word is close.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::string_view> letters;
  for (const std::string& one : known) {
    if (one != word) letters.push_back(WithoutDashes(one));
  }
  const std::optional<std::string_view> nearest = FindNearestWord(WithoutDashes(word), letters);
  if (!nearest) return "";
  const auto meant = std::find_if(known.begin(), known.end(), [&](const std::string& one) {
    return WithoutDashes(one) == *nearest;
  });
  return fmt::format(" (did you mean {}?)", *meant);
}

std::vector<std::string> OptionsOf(const std::string& command,
                                   const std::vector<CommandDefinition>& commands) {
  std::vector<std::string> names = {"--help"};
  if (command.empty()) names.emplace_back("--version");
  for (const CommandDefinition& one : commands) {
    if (one.name != command) continue;
    for (const OptionList::Bound& bound : one.options.all()) {
      if (bound.option.IsArgument()) continue;
      names.insert(names.end(), bound.option.names.begin(), bound.option.names.end());
    }
  }
  return names;
}

// Returns the words that may follow `group`; an empty one is leakgate itself.
std::vector<std::string> CommandWords(const std::string& group) {
  std::vector<std::string> words;
  for (const std::string& name : CommandsBelow(group)) words.push_back(LastWord(name));
  return words;
}

// Returns the message about an argument that CLI11 could not place. `command` is the command that
// was found; it may be empty.
std::string StrayArgumentText(const std::string& argument, const std::string& command,
                              const std::vector<CommandDefinition>& commands) {
  if (argument.starts_with("-")) {
    return fmt::format(
        "unknown option '{}'{}; see leakgate{}{} --help", argument,
        DidYouMean(argument.substr(0, argument.find('=')), OptionsOf(command, commands)),
        command.empty() ? "" : " ", command);
  }
  if (command.empty()) {
    return fmt::format("unknown command '{}'{}; see leakgate --help", argument,
                       DidYouMean(argument, CommandWords("")));
  }
  if (command == "run") {
    return fmt::format(
        "unexpected argument '{0}'; the program goes after two dashes: leakgate run "
        "-- {0}",
        argument);
  }
  return fmt::format("unexpected argument '{}'{}; see leakgate {} --help", argument,
                     DidYouMean(argument, CommandWords(command)), command);
}

// Returns CLI11's message about a wrong command line, on one line.
std::string ParseErrorText(std::string cause, const std::string& command) {
  std::replace(cause.begin(), cause.end(), '\n', ' ');
  constexpr std::string_view kRepeated = ": At Most 1 required but received ";
  if (const std::size_t at = cause.find(kRepeated); at != std::string::npos) {
    cause = fmt::format("{} is given {} times, and takes one value; leave the others out",
                        cause.substr(0, at), cause.substr(at + kRepeated.size()));
  }
  return fmt::format("{}; see leakgate {}{}--help", cause, command, command.empty() ? "" : " ");
}

Unexpected NoCommandError(const std::string& group) {
  if (group.empty()) {
    return UsageError(
        "no command; to run a test binary: leakgate run -- BINARY; see leakgate --help");
  }
  return UsageError(fmt::format("no command; there are {}; see leakgate {} --help",
                                OneOf(CommandWords(group), " and "), group));
}

Expected<Command> Complete(const std::string& name, const std::vector<CommandDefinition>& commands,
                           const Parser& parser, const ProgramLine& program) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const CommandDefinition& it) { return it.name == name; });
  if (found == commands.end() || !found->complete) return NoCommandError(name);
  LEAKGATE_TRY(parser.ReadValues(name));
  return found->complete(program);
}

}  // namespace

Expected<Command> ParseCommandLine(const std::vector<std::string>& arguments) {
  const Halves halves = Split(arguments);
  const std::vector<CommandDefinition> commands = DefineCommandsFor(halves.options);
  Parser parser(commands);
  try {
    parser.Parse(halves.options);
  } catch (const CLI::CallForVersion&) {
    return Command(PrintCommand{VersionText() + "\n"});
  } catch (const CLI::CallForHelp&) {
    const std::vector<CommandPage> pages = AllPages();
    return Command(PrintCommand{HelpText(PageOf(pages, parser.FoundName()), pages)});
  } catch (const CLI::ParseError& error) {
    return UsageError(ParseErrorText(error.what(), parser.FoundName()));
  }
  const std::string name = parser.FoundName();
  const std::vector<std::string> stray = parser.StrayArguments();
  if (!stray.empty()) return UsageError(StrayArgumentText(stray.front(), name, commands));
  return Complete(name, commands, parser, halves.program);
}

}  // namespace leakgate
