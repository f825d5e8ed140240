#include "runner/cli/other_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "runner/cli/command_page.h"
#include "runner/cli/completion.h"
#include "runner/cli/man_page.h"
#include "runner/cli/value_words.h"

namespace leakgate {
namespace {

Expected<Command> MakeCompletion(const std::string& shell) {
  if (shell == "bash") return Command(PrintCommand{BashCompletion(AllPages())});
  if (shell == "zsh") return Command(PrintCommand{ZshCompletion(AllPages())});
  if (shell == "fish") return Command(PrintCommand{FishCompletion(AllPages())});
  const std::string known = OneOf(MeaningOf("SHELL").choices);
  if (shell.empty()) {
    return UsageError(
        fmt::format("no shell; name it: leakgate completion SHELL, which is {}", known));
  }
  return UsageError(fmt::format("no completion for the shell '{}'; there is {}", shell, known));
}

}  // namespace

OtherOptions::OtherOptions(CLI::App& app)
    : doctor_(app.add_subcommand("doctor")->allow_extras()),
      framework_(app.add_subcommand("framework")->allow_extras()),
      completion_(app.add_subcommand("completion")->allow_extras()),
      man_(app.add_subcommand("man")->allow_extras()) {
  doctor_->add_option("binary", examined_)->type_name("BINARY");
  completion_->add_option("shell", shell_)->type_name("SHELL");
  man_->add_option("command", page_)->type_name("COMMAND");
  man_->add_option("-o,--output", directory_,
                   "Write the pages of all commands into a directory, as leakgate-COMMAND.1")
      ->type_name("DIR");
}

bool OtherOptions::is_parsed() const {
  return doctor_->parsed() || framework_->parsed() || completion_->parsed() || man_->parsed();
}

Expected<Command> OtherOptions::MakeDoctor(const std::vector<std::string>& program) const {
  std::vector<std::string> line = examined_;
  line.insert(line.end(), program.begin(), program.end());
  if (line.empty() || line.front().empty()) {
    return UsageError("no program to examine; name the test binary: leakgate doctor BINARY");
  }
  return Command(DoctorCommand{line.front(), {line.begin() + 1, line.end()}});
}

// As words, or as man has them: leakgate-budget-check.
Expected<Command> OtherOptions::MakeMan() const {
  if (!directory_.empty()) return Command(WriteManPagesCommand{directory_});
  std::string name = fmt::format("{}", fmt::join(page_, " "));
  if (name.starts_with("leakgate")) {
    std::replace(name.begin(), name.end(), '-', ' ');
    name.erase(0, std::min(name.size(), std::string("leakgate ").size()));
  }
  for (const CommandPage& page : AllPages()) {
    if (page.prose.name == name) return Command(PrintCommand{ManPage(page, AllPages())});
  }
  return UsageError(fmt::format("no manual page for '{}'; see leakgate --help", name));
}

Expected<Command> OtherOptions::Make(const std::vector<std::string>& program) const {
  if (doctor_->parsed()) return MakeDoctor(program);
  if (!program.empty()) {
    const CLI::App* const parsed = framework_->parsed()    ? framework_
                                   : completion_->parsed() ? completion_
                                                           : man_;
    return UsageError(fmt::format("the command '{}' runs no program; leave out what follows --",
                                  parsed->get_name()));
  }
  if (completion_->parsed()) return MakeCompletion(shell_);
  if (man_->parsed()) return MakeMan();
  return Command(FrameworkCommand{});
}

}  // namespace leakgate
