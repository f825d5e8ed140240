#include "runner/cli/commands/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/cli/installation.h"
#include "runner/cli/terminal.h"

namespace leakgate {
namespace {

std::string Mark(CheckResult result, Colour colour) {
  switch (result) {
    case CheckResult::kOk:
      return Paint("ok  ", Emphasis::kGood, colour);
    case CheckResult::kWarning:
      return Paint("warn", Emphasis::kUncertain, colour);
    case CheckResult::kNo:
      break;
  }
  return Paint("no  ", Emphasis::kBad, colour);
}

bool Any(const std::vector<Check>& checks, CheckResult result) {
  return std::any_of(checks.begin(), checks.end(),
                     [result](const Check& check) { return check.result == result; });
}

std::string_view OneLineAnswer(const std::vector<Check>& checks) {
  if (Any(checks, CheckResult::kNo)) return "cannot be gated here";
  return Any(checks, CheckResult::kWarning) ? "can be gated, but see the warnings" : "can be gated";
}

}  // namespace

void Declare(DoctorCommand& command, OptionList& options) {
  options.AddArgument("binary", FileWord("BINARY"), command.words);
}

Expected<void> Complete(DoctorCommand& command, const ProgramLine& program) {
  std::vector<std::string> line = std::move(command.words);
  line.insert(line.end(), program.begin(), program.end());
  if (line.empty() || line.front().empty()) {
    return UsageError("no program to examine; name the test binary: leakgate doctor BINARY");
  }
  command.program = line.front();
  command.arguments.assign(line.begin() + 1, line.end());
  return {};
}

std::string DoctorText(const std::string& program, const std::vector<Check>& checks,
                       Colour colour) {
  std::string text =
      Printable(fmt::format("leakgate: {} {}", program, OneLineAnswer(checks))) + '\n';
  for (const Check& check : checks) {
    text += fmt::format("  {}  {}: {}\n", Mark(check.result, colour), check.subject,
                        Printable(check.text));
  }
  return text;
}

Expected<int> Execute(const DoctorCommand& command) {
  LEAKGATE_TRY_ASSIGN(const std::vector<Check> checks, CheckProgram({.program = command.program,
                                                                     .arguments = command.arguments,
                                                                     .agent = FindAgent()}));
  Print(stdout, DoctorText(command.program, checks, ColourOf(stdout)));
  return Any(checks, CheckResult::kNo) ? static_cast<int>(ExitCode::kInconclusive) : kExitPass;
}

}  // namespace leakgate
