#include "runner/cli/heap_tracing/image_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/cli/terminal.h"

namespace leakgate {
namespace {

constexpr std::size_t kLongestSessionName = 64;

void DeclareName(std::string& name, OptionList& options) {
  const auto set_name = [&name](const std::string& text) -> Expected<void> {
    if (!name.empty()) {
      return UsageError("name one session; see leakgate session --help");
    }
    LEAKGATE_TRY_ASSIGN(name, ParseImageSessionName("NAME", text));
    return {};
  };
  options.AddEach("name", TextWord("NAME"), set_name, "");
}

Expected<void> CheckLine(const std::string& name, const ProgramLine& program) {
  if (!program.empty()) {
    return UsageError(
        "leakgate session runs no program on Windows; start it by itself, once the session has "
        "begun");
  }
  if (name.empty()) return UsageError("name a session; see leakgate session --help");
  return {};
}

}  // namespace

Expected<std::string> ParseImageSessionName(const std::string&, const std::string& text) {
  const bool is_good = std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-").find(c) != std::string_view::npos;
  });
  if (is_good && !text.empty() && text.size() <= kLongestSessionName) return text;
  return UsageError(
      fmt::format("'{}': not a session's name; write letters, digits, '.', '_' and '-', {} at most",
                  text, kLongestSessionName));
}

void Declare(ImageSessionStartCommand& command, OptionList& options) {
  DeclareName(command.name, options);
  options.Add("--image", TextWord("IMAGE[:PACKAGE!APP]"), command.images, ParseFlaggedImage,
              "Have Windows trace the heaps of each process of that image which starts from now "
              "on: the file's name, with its ending. Where it hosts applications of packages, "
              "PACKAGE!APP is one of them: the package's full name, and the application's. "
              "Repeatable");
  options.AddFlag("--wpr", command.recorder, Recorder::kWpr,
                  "Also have wpr record: wpr -start Heap -filemode. leakgate session stop NAME "
                  "--etl FILE keeps it; without --etl it is given up");
}

void Declare(ImageSessionListCommand& command, OptionList& options) {
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
}

void Declare(ImageSessionStopCommand& command, OptionList& options) {
  DeclareName(command.name, options);
  options.AddFlag("--force", command.is_forced,
                  "Also put back what somebody else has changed meanwhile");
  options.Add("--etl", FileWord("FILE"), command.etl,
              "First end the recording that wpr makes, and keep it in FILE: wpr -stop FILE. FILE "
              "must not be there yet");
}

void Declare(ImageSessionUnitCommand& command, OptionList& options) {
  DeclareName(command.name, options);
  options.Add("--image", TextWord("IMAGE[:PACKAGE!APP]"), command.images, ParseFlaggedImage,
              "As of leakgate session start. Repeatable");
  options.Add("--etl", FileWord("FILE"), command.etl,
              "The whole path of the file that Windows records into");
  options.AddFlag("--undo", command.is_undone, "Print the commands that undo it instead");
}

Expected<void> Complete(ImageSessionStartCommand& command, const ProgramLine& program) {
  LEAKGATE_TRY(CheckLine(command.name, program));
  if (!command.images.empty()) return {};
  return UsageError("nothing to trace; name images: leakgate session start web --image nginx.exe");
}

Expected<void> Complete(ImageSessionListCommand&, const ProgramLine& program) {
  return CheckLine("any", program);
}

Expected<void> Complete(ImageSessionStopCommand& command, const ProgramLine& program) {
  return CheckLine(command.name, program);
}

Expected<void> Complete(ImageSessionUnitCommand& command, const ProgramLine& program) {
  LEAKGATE_TRY(CheckLine(command.name, program));
  if (command.images.empty() || (command.etl.empty() && !command.is_undone)) {
    return UsageError(
        "name images and a file; for example: leakgate session unit web --image nginx.exe --etl "
        "C:\\boot.etl");
  }
  std::string texts = command.etl;
  for (const FlaggedImage& image : command.images) texts += TextOf(image);
  if (texts.find_first_of("%\"\r\n") != std::string::npos) {
    return UsageError("a name with % or a quote can stand in no batch file; choose another");
  }
  if (command.is_undone || IsWindowsPath(command.etl)) return {};
  return UsageError(
      fmt::format("--etl {}: Windows begins to record before anybody has a folder; write the "
                  "whole path",
                  command.etl));
}

// Of Microsoft's example for heaps from the start of Windows on: its values, and their order. The
// filter has the stacks of VirtualAlloc, and of creating heaps, allocating and reallocating.
std::string BootCommandsText(const ImageSessionUnitCommand& command) {
  const std::string key =
      "HKLM\\SYSTEM\\CurrentControlSet\\Control\\WMI\\Autologger\\leakgate-" + command.name;
  if (command.is_undone) {
    return fmt::format(
        "rem As administrator. The file of the recording stays.\n"
        "logman stop \"leakgate-{0}\" -ets\n"
        "reg delete \"{1}\" /f\n"
        "leakgate session stop {0}\n",
        command.name, key);
  }
  std::string images;
  for (const FlaggedImage& image : command.images) {
    images += fmt::format(" --image \"{}\"", TextOf(image));
  }
  std::string text = fmt::format(
      "rem As administrator. Windows records from its next start on.\n"
      "leakgate session start {}{}\n",
      command.name, images);
  const std::pair<std::string_view, std::string> values[] = {
      {"GUID", "REG_SZ /d \"{222962ab-6180-4b88-a825-346b75f2a24a}\""},
      {"Start", "REG_DWORD /d 1"},
      {"LogFileMode", "REG_DWORD /d 1"},
      {"FileName", fmt::format("REG_SZ /d \"{}\"", command.etl)},
      {"BufferSize", "REG_DWORD /d 64"},
      {"MaximumBuffers", "REG_DWORD /d 4096"},
      {"MinimumBuffers", "REG_DWORD /d 1024"},
      {"MaxFileSize", "REG_DWORD /d 0"},
      {"StackWalkingFilter", "REG_BINARY /d 62020000201000002110000022100000"}};
  for (const auto& [name, value] : values) {
    text += fmt::format("reg add \"{}\" /v {} /t {} /f\n", key, name, value);
  }
  return text;
}

Expected<int> Execute(const ImageSessionUnitCommand& command) {
  PrintVerbatim(stdout, BootCommandsText(command));
  return kExitPass;
}

}  // namespace leakgate
