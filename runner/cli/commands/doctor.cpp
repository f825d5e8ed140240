#include "runner/cli/commands/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/cli/installation.h"
#include "runner/cli/terminal.h"
#include "runner/run/self_test.h"

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

std::string TextOf(const std::vector<Check>& checks, Colour colour) {
  std::string text;
  for (const Check& check : checks) {
    text += fmt::format("  {}  {}: {}\n", Mark(check.result, colour), check.subject,
                        Printable(check.text));
  }
  return text;
}

int ExitCodeFor(const std::vector<Check>& checks) {
  return Any(checks, CheckResult::kNo) ? static_cast<int>(ExitCode::kInconclusive) : kExitPass;
}

Expected<int> TestThisSystem() {
  LEAKGATE_TRY_ASSIGN(const std::vector<Check> checks,
                      TestSystem({.agent = FindAgent(), .folder = FindSelfTest()}));
  Print(stdout, SelfTestText(checks, ColourOf(stdout)));
  return ExitCodeFor(checks);
}

}  // namespace

void Declare(DoctorCommand& command, OptionList& options) {
  options.AddFlag(
      "--self-test", command.is_self_test,
      "On Windows: trace programs that come with leakgate, and say whether it can rely on "
      "this system");
  options.AddArgument("binary", FileWord("BINARY"), command.words);
}

Expected<void> Complete(DoctorCommand& command, const ProgramLine& program) {
  std::vector<std::string> line = std::move(command.words);
  line.insert(line.end(), program.begin(), program.end());
  if (command.is_self_test) {
    if (line.empty()) return {};
    return UsageError(
        "doctor --self-test takes no program; leave it out, or leave out --self-test");
  }
  if (line.empty() || line.front().empty()) {
    return UsageError("no program to examine; name the test binary: leakgate doctor BINARY");
  }
  command.program = line.front();
  command.arguments.assign(line.begin() + 1, line.end());
  return {};
}

std::string DoctorText(const std::string& program, const std::vector<Check>& checks,
                       Colour colour) {
  return Printable(fmt::format("leakgate: {} {}", program, OneLineAnswer(checks))) + '\n' +
         TextOf(checks, colour);
}

std::string SelfTestText(const std::vector<Check>& checks, Colour colour) {
  const auto failed = std::count_if(checks.begin(), checks.end(), [](const Check& check) {
    return check.result == CheckResult::kNo;
  });
  return (failed == 0
              ? "leakgate: self-test: all holds\n"
              : fmt::format("leakgate: self-test: {} of {} do not hold; leakgate help windows "
                            "says what each is\n",
                            failed, checks.size())) +
         TextOf(checks, colour);
}

Expected<int> Execute(const DoctorCommand& command) {
  if (command.is_self_test) return TestThisSystem();
  LEAKGATE_TRY_ASSIGN(const std::vector<Check> checks, CheckProgram({.program = command.program,
                                                                     .arguments = command.arguments,
                                                                     .agent = FindAgent()}));
  Print(stdout, DoctorText(command.program, checks, ColourOf(stdout)));
  return ExitCodeFor(checks);
}

}  // namespace leakgate
