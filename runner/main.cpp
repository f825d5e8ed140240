// The one place where errors are printed and the exit code is chosen.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "runner/cli/commands.h"

namespace {

leakgate::Expected<int> RunMain(const std::vector<std::string>& arguments) {
  leakgate::Expected<leakgate::Command> command = leakgate::ParseCommandLine(arguments);
  if (!command) return leakgate::Unexpected(command.error());
  return std::visit([](auto& chosen) { return leakgate::Execute(std::move(chosen)); }, *command);
}

// Never throws: standard error may be closed, or a broken pipe.
void Print(const std::string& message) {
  std::fputs(fmt::format("leakgate: {}\n", message).c_str(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const leakgate::Expected<int> exit_code = RunMain({argv + 1, argv + argc});
    if (exit_code) return *exit_code;
    Print(exit_code.error().message);
    return static_cast<int>(exit_code.error().exit_code);
  } catch (const std::exception& error) {
    Print(fmt::format("internal error: {}", error.what()));
  }
  return static_cast<int>(leakgate::ExitCode::kInconclusive);
}
