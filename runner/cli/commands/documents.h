// The commands that print texts about leakgate itself: help and the version, `leakgate framework`,
// `completion` and `man`.
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

// Prints the list of what counts as the framework's own.
struct FrameworkCommand {};

// Writes the manual pages of all commands into a directory, which is created if necessary.
struct WriteManPagesCommand {
  std::filesystem::path directory;
  std::vector<CommandPage> pages;
};

// The arguments of `leakgate completion` and `leakgate man`.
struct CompletionRequest {
  std::string shell;
};
struct ManRequest {
  std::vector<std::string> words;   // "budget", "check", or the name of a page
  std::filesystem::path directory;  // for the pages of all commands; empty: one is printed
};

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
[[nodiscard]] Expected<int> Execute(const FrameworkCommand& command);
[[nodiscard]] Expected<int> Execute(const WriteManPagesCommand& command);

}  // namespace leakgate
