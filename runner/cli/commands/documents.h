// The commands that print texts about leakgate itself: help, pages of the documents, the version,
// `leakgate framework`, `completion` and `man`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/help/help_formats.h"
#include "runner/cli/option_list.h"

namespace leakgate {

// Prints a text.
struct PrintCommand {
  std::string text;
};

// Shows a page of the documents: in a pager if standard output is a terminal, and there is a pager.
struct ShowPageCommand {
  std::filesystem::path file;
};

// Prints the list of what counts as the framework's own.
struct FrameworkCommand {};

// Writes the manual pages of all commands into a directory, which is created if necessary.
struct WriteManPagesCommand {
  std::filesystem::path directory;
  std::vector<CommandPage> pages;
};

// The arguments of `leakgate help`, `completion` and `man`.
struct HelpRequest {
  std::vector<std::string> words;  // the name of a page, or of a command: "budget", "check"
};
struct CompletionRequest {
  std::string shell;
};
struct ManRequest {
  std::vector<std::string> words;   // "budget", "check", or the name of a page
  std::filesystem::path directory;  // for the pages of all commands; empty: one is printed
};

void Declare(HelpRequest& request, OptionList& options);
void Declare(CompletionRequest& request, OptionList& options);
void Declare(ManRequest& request, OptionList& options);

[[nodiscard]] Expected<void> Complete(FrameworkCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> RequireNoProgram(const std::string& command,
                                              const ProgramLine& program);

[[nodiscard]] Expected<std::string> CompletionText(const CompletionRequest& request,
                                                   const std::vector<CommandPage>& pages);
[[nodiscard]] Expected<std::string> ManText(const ManRequest& request,
                                            const std::vector<CommandPage>& pages);

[[nodiscard]] Expected<int> Execute(const PrintCommand& command);
[[nodiscard]] Expected<int> Execute(const ShowPageCommand& command);
[[nodiscard]] Expected<int> Execute(const FrameworkCommand& command);
[[nodiscard]] Expected<int> Execute(const WriteManPagesCommand& command);

}  // namespace leakgate
