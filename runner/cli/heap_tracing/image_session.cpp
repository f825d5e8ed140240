#include "runner/cli/heap_tracing/image_session.h"

#include <fmt/format.h>

#include <algorithm>

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
  options.Add("--image", TextWord("IMAGE[:PACKAGE!APP]"), command.images, ParseTracedImage,
              "Have Windows trace the heaps of each process of that image which starts from now "
              "on: the file's name, with its ending. Where it hosts applications of packages, "
              "PACKAGE!APP is one of them: the package's full name, and the application's. "
              "Repeatable");
}

void Declare(ImageSessionListCommand& command, OptionList& options) {
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
}

void Declare(ImageSessionStopCommand& command, OptionList& options) {
  DeclareName(command.name, options);
  options.AddFlag("--force", command.is_forced,
                  "Also put back what somebody else has changed meanwhile");
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

}  // namespace leakgate
