#include "runner/cli/commands/gated_runs.h"

#include <fmt/format.h>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/cli/own_program.h"
#include "runner/cli/terminal.h"
#include "runner/report/window_text.h"
#include "runner/run/adopted_programs.h"
#include "runner/run/child_command.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLogBytes = std::size_t{1} << 20;

// Returns the last lines of a log.
std::string EndOf(const fs::path& log) {
  constexpr int kLines = 12;
  const auto text = ReadRegularFile(log, kMostLogBytes);
  if (!text) return "";
  std::size_t begin = text->size();
  for (int lines = 0; lines < kLines && begin != 0 && begin != std::string::npos; ++lines) {
    begin = text->rfind('\n', begin - 1);
  }
  std::string end = text->substr(begin == std::string::npos ? 0 : begin);
  std::erase_if(end, [](char letter) { return letter != '\n' && (letter < ' ' || letter == 127); });
  return end + '\n';
}

}  // namespace

Expected<GatedRuns::Run> GatedRuns::RunOnce(const CtestCommand& program, const Gate& gate) {
  const fs::path report = scratch_ / fmt::format("run-{}.json", runs_);
  const fs::path log = scratch_ / fmt::format("run-{}.log", runs_);
  ++runs_;
  // What accepts, too, is kept under version control: no program's data belongs there.
  std::vector<std::string> arguments = {"run", "--report=json=" + PathText(report),
                                        "--contents=none"};
  arguments.insert(arguments.end(), gate.options.begin(), gate.options.end());
  arguments.insert(arguments.end(), {"--", program.binary});
  arguments.insert(arguments.end(), program.arguments.begin(), program.arguments.end());
  if (gate.seed && !RunsOneTest(program)) {
    arguments.emplace_back("--gtest_shuffle");
    arguments.push_back(fmt::format("--gtest_random_seed={}", *gate.seed));
  }
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const int exit_code,
                      RunToFile({.program = OwnProgram(),
                                 .arguments = std::move(arguments),
                                 .directory = program.directory,
                                 .environment = program.environment},
                                log));
  std::optional<Run> run;
  const Expected<void> read = ReadResults(report, [&](RunResult&& result, const RunPlace& place) {
    run = Run{std::move(result), place};
  });
  if (read && run) return *std::move(run);
  Print(stderr, EndOf(log));
  return InconclusiveError(
      fmt::format("{}: could not be run under the gate; see above", program.binary));
}

void GatedRuns::NoteTroubles(const CtestCommand& program, const RunResult& result) {
  for (const std::string& reason : result.reasons) {
    unmeasured_.insert(fmt::format("{}: {}", program.binary, reason));
  }
  for (const WindowResult& window : result.windows) {
    if (window.verdict != Verdict::kInconclusive) continue;
    unmeasured_.insert(
        fmt::format("{}: {}: {}", program.binary, WindowName(window), window.reason));
  }
  if (result.verdict != Verdict::kPass || result.program.ShellCode() == 0) return;
  failing_.insert(fmt::format("{}: its own tests fail: it {}", program.binary,
                              ProgramExitText(result.program)));
}

}  // namespace leakgate
