#include "runner/cli/command_page.h"

#include <algorithm>
#include <stdexcept>

#include "runner/cli/command_line.h"
#include "runner/cli/command_prose.h"

namespace leakgate {
namespace {

std::vector<std::string> WordsOf(const std::string& name) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find(' ', at), name.size());
    words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

const CLI::App& CommandOf(const CLI::App& app, const std::string& name) {
  const CLI::App* command = &app;
  for (const std::string& word : WordsOf(name)) command = command->get_subcommand(word);
  return *command;
}

OptionEntry EntryOf(const CLI::Option& option) {
  OptionEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_items_expected_max() != 0) entry.value = option.get_type_name();
  entry.description = option.get_description();
  return entry;
}

CommandPage MakePage(const CLI::App& app, const CommandProse& prose) {
  CommandPage page{prose, {}, {}, {}};
  const CLI::App& command = CommandOf(app, prose.name);
  std::vector<OptionEntry> last;
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_positional()) {
      page.positionals.push_back({option->get_type_name(), option->get_items_expected_max() > 1});
    } else if (option == command.get_help_ptr() || option == command.get_version_ptr()) {
      last.push_back(EntryOf(*option));
    } else {
      page.options.push_back(EntryOf(*option));
    }
  }
  page.options.insert(page.options.end(), last.begin(), last.end());
  return page;
}

// The direct commands of `name`, in the order of the prose.
std::vector<std::string> CommandsOf(const std::string& name) {
  std::vector<std::string> commands;
  for (const CommandProse& prose : AllProse()) {
    const std::vector<std::string> words = WordsOf(prose.name);
    const bool is_below = name.empty() || prose.name.starts_with(name + " ");
    if (is_below && words.size() == WordsOf(name).size() + 1) commands.push_back(prose.name);
  }
  return commands;
}

}  // namespace

std::vector<CommandPage> AllPages() {
  const CommandLine line;
  std::vector<CommandPage> pages;
  for (const CommandProse& prose : AllProse()) {
    pages.push_back(MakePage(line.app, prose));
    pages.back().commands = CommandsOf(prose.name);
  }
  return pages;
}

std::string FullName(const CommandPage& page) {
  return page.prose.name.empty() ? "leakgate" : "leakgate " + page.prose.name;
}

bool TakesProgram(const CommandPage& page) {
  const auto& usages = page.prose.usages;
  return page.commands.empty() &&
         std::any_of(usages.begin(), usages.end(), [](const std::string& usage) {
           return usage.find("-- BINARY") != std::string::npos ||
                  usage.find("-- COMMAND") != std::string::npos;
         });
}

std::string LastWord(const std::string& name) {
  const std::size_t space = name.rfind(' ');
  return space == std::string::npos ? name : name.substr(space + 1);
}

const CommandPage& PageOf(const std::vector<CommandPage>& pages, const std::string& name) {
  const auto found = std::find_if(pages.begin(), pages.end(),
                                  [&](const CommandPage& page) { return page.prose.name == name; });
  if (found == pages.end()) throw std::logic_error("no page for the command " + name);
  return *found;
}

}  // namespace leakgate
