// Command lines as tests write them, parsed.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "runner/cli/app/command_line.h"

namespace leakgate {

// The command, which must be one of that kind.
template <typename Wanted>
Wanted Parse(const std::vector<std::string>& arguments) {
  const Expected<Command> command = ParseCommandLine(arguments);
  if (!command) ADD_FAILURE() << command.error().message;
  return std::get<Wanted>(command.value());
}

inline std::string ErrorOf(const std::vector<std::string>& arguments) {
  const Expected<Command> command = ParseCommandLine(arguments);
  if (command) return "no error";
  EXPECT_EQ(command.error().exit_code, ExitCode::kUsage);
  return command.error().message;
}

}  // namespace leakgate
