// The one place where errors are printed and the exit code is chosen.
#include <fmt/format.h>

#include <boost/system/system_error.hpp>
#include <exception>
#include <system_error>

#include "runner/attach/program_environment.h"
#include "runner/base/own_memory.h"
#include "runner/base/signal_end.h"
#include "runner/base/time_limit.h"
#include "runner/cli/app/command_line.h"
#include "runner/cli/own_program.h"
#include "runner/cli/system_needs.h"
#include "runner/cli/terminal.h"

namespace {

// Help, manual pages and the like, which need nothing.
bool OnlyPrints(const leakgate::Command& command) {
  return std::holds_alternative<leakgate::PrintCommand>(command) ||
         std::holds_alternative<leakgate::ShowPageCommand>(command) ||
         std::holds_alternative<leakgate::FrameworkCommand>(command);
}

leakgate::Expected<int> RunMain(const std::vector<std::string>& arguments) {
  leakgate::Expected<leakgate::Command> command = leakgate::ParseCommandLine(arguments);
  if (!command) return leakgate::Unexpected(command.error());
  if (!OnlyPrints(*command)) {
    if (const leakgate::Expected<void> has = leakgate::RequireSystem(); !has) {
      return leakgate::Unexpected(has.error());
    }
  }
  if (!leakgate::LooksAtSnapshots(*command)) leakgate::HideVariable("DEBUGINFOD_URLS");
  return std::visit([](auto& chosen) { return leakgate::Execute(std::move(chosen)); }, *command);
}

// A message says what to do behind a semicolon. Of one that does not, a page of the documents says
// it.
std::string WithRemedy(const std::string& message) {
  const bool has_remedy = message.find(';') != std::string::npos;
  return message + (has_remedy ? "" : "; see leakgate help troubleshooting");
}

void PrintRefusal(const std::exception& error) {
  leakgate::PrintMessage(
      fmt::format("the system does not allow what leakgate needs: {}; raise its limits "
                  "(ulimit -a), or allow the call in the container",
                  error.what()));
}

}  // namespace

int main(int argc, char** argv) {
  leakgate::HandleEndSignals();
  leakgate::KeepFreedPages();
  leakgate::RaiseThreadStackSize();
  try {
    const leakgate::Expected<int> exit_code = RunMain(leakgate::OwnArguments(argc, argv));
    if (exit_code) return leakgate::ExitCodeAfterOutput(*exit_code);
    leakgate::PrintMessage(WithRemedy(exit_code.error().message));
    return static_cast<int>(exit_code.error().exit_code);
  } catch (const std::system_error& error) {
    PrintRefusal(error);
  } catch (const boost::system::system_error& error) {  // of Boost.Process
    PrintRefusal(error);
  } catch (const leakgate::TimeIsUp& error) {
    leakgate::PrintMessage(WithRemedy(error.what()));
  } catch (const std::exception& error) {
    leakgate::PrintMessage(WithRemedy(fmt::format("internal error: {}", error.what())));
  }
  return static_cast<int>(leakgate::ExitCode::kInconclusive);
}
