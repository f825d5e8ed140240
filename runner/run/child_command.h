// Runs a command to its end, with its output in a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

struct ChildCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::filesystem::path directory;       // empty: this process's
  std::vector<std::string> environment;  // NAME=VALUE, besides this process's own
};

// Returns the command's exit code, 128+n for signal n. Its input is empty, and both its outputs go
// to `output`, which is replaced. The command ends when this process does. Returns an error if it
// cannot be started.
[[nodiscard]] Expected<int> RunToFile(const ChildCommand& command,
                                      const std::filesystem::path& output);

}  // namespace leakgate
