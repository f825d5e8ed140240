#include "runner/cli/help/command_page.h"

#include <algorithm>
#include <stdexcept>

namespace leakgate {

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

std::vector<std::string> CommandsBelow(const std::string& name) {
  const std::string before = name.empty() ? "" : name + ' ';
  std::vector<std::string> commands;
  for (const CommandProse& prose : AllProse()) {
    const std::string& other = prose.name;
    if (other.empty() || !other.starts_with(before)) continue;
    if (other.find(' ', before.size()) == std::string::npos) commands.push_back(other);
  }
  return commands;
}

const CommandPage& PageOf(const std::vector<CommandPage>& pages, const std::string& name) {
  const auto found = std::find_if(pages.begin(), pages.end(),
                                  [&](const CommandPage& page) { return page.prose.name == name; });
  if (found == pages.end()) throw std::logic_error("no page for the command " + name);
  return *found;
}

}  // namespace leakgate
