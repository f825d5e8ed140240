#include "runner/cli/commands/adopt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "runner/base/atomic_file.h"
#include "runner/base/regular_file.h"
#include "runner/cli/app/option_values.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/process/process_image.h"
#include "runner/region/amount.h"
#include "runner/report/formats/writers.h"
#include "runner/report/summary_text.h"
#include "runner/report/window_text.h"
#include "runner/results/merged_causes.h"
#include "runner/results/result_file.h"
#include "runner/run/ctest_listing.h"
#include "runner/run/linux/child_command.h"
#include "runner/run/repetition.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRounds = 5;   // in which tests run shuffled
constexpr int kGreenRounds = 2;  // of these in a row are enough
constexpr std::size_t kMostLogBytes = std::size_t{1} << 20;

struct Round {
  std::optional<int> seed = std::nullopt;  // shuffles the tests
  bool has_baseline = false;
  bool plants_leak = false;
};

bool IsGoogleTest(const std::string& program) {
  const Expected<fs::path> found = FindProgram(program);
  if (!found) return false;
  const Expected<ImageInspection> image = InspectImage(*found);
  return image && image->framework != TestFramework::kNone;
}

Expected<CtestListing> ListCtest(const fs::path& folder, const fs::path& scratch) {
  const Expected<fs::path> ctest = FindProgram("ctest");
  if (!ctest) return Unexpected(ctest.error());
  const fs::path output = scratch / "ctest.json";
  const Expected<int> code =
      RunToFile({.program = *ctest,
                 .arguments = {"--test-dir", folder.string(), "--show-only=json-v1"},
                 .directory = {},
                 .environment = {}},
                output);
  if (!code) return Unexpected(code.error());
  const auto text = ReadRegularFile(output, std::size_t{1} << 30);
  Expected<CtestListing> listing = ParseCtestListing(text ? *text : "", IsGoogleTest);
  if (!listing) {
    return UsageError(fmt::format("{}: {}", folder.string(), listing.error().message));
  }
  if (listing->commands.empty()) {
    return UsageError(fmt::format(
        "{}: no test of CTest's runs a binary of GoogleTest's; build it first, or name the binary",
        folder.string()));
  }
  return listing;
}

// A suite of one process for each test has nothing to shuffle.
bool RunsOneTest(const CtestCommand& command) {
  return std::any_of(command.arguments.begin(), command.arguments.end(),
                     [](const std::string& argument) {
                       return argument.starts_with("--gtest_filter=") &&
                              argument.find_first_of("*:") == std::string::npos;
                     });
}

// Runs programs under the gate, and collects what it accepts.
class Adoption {
 public:
  Adoption(const AdoptCommand& command, fs::path scratch)
      : command_(command), scratch_(std::move(scratch)) {}

  Expected<void> FindPrograms() {
    if (!command_.program.empty()) {
      const std::string& binary = command_.program.front();
      programs_.push_back({binary, {command_.program.begin() + 1, command_.program.end()}, {}, {}});
    }
    for (const fs::path& target : command_.targets) {
      std::error_code ignored;
      if (!fs::is_directory(target, ignored)) {
        const std::string name = target.string();
        programs_.push_back({name.find('/') == std::string::npos ? "./" + name : name, {}, {}, {}});
        continue;
      }
      Expected<CtestListing> listing = ListCtest(target, scratch_);
      if (!listing) return Unexpected(listing.error());
      if (listing->others != 0) {
        PrintMessage(fmt::format("{}: left out {} that no GoogleTest binary runs", target.string(),
                                 FormatCount(listing->others, "test")));
      }
      std::move(listing->commands.begin(), listing->commands.end(), std::back_inserter(programs_));
    }
    for (const CtestCommand& program : programs_) {
      if (const Expected<fs::path> found = FindProgram(program.binary); !found) {
        return Unexpected(found.error());
      }
      if (IsGoogleTest(program.binary)) continue;
      return UsageError(
          fmt::format("{}: no GoogleTest binary that can be gated; leakgate doctor {} says why",
                      program.binary, program.binary));
    }
    return {};
  }

  // Runs all as it is, and then shuffled until the baseline holds.
  Expected<bool> Adopt() {
    PrintMessage(fmt::format("running {}", ProgramsText()));
    for (const CtestCommand& program : programs_) {
      Expected<RunResult> result = RunOnce(program, {});
      if (!result) return Unexpected(result.error());
    }
    if (const Expected<void> written = WriteBaseline(); !written)
      return Unexpected(written.error());
    int green_rounds = 0;
    for (int round = 1; round <= kMostRounds && green_rounds < kGreenRounds; ++round) {
      PrintMessage(fmt::format("running again with the baseline, {} {}",
                               IsShuffled() ? "in another order:" : "round", round));
      const Expected<bool> is_green = RunRound({.seed = round, .has_baseline = true});
      if (!is_green) return is_green;
      green_rounds = *is_green ? green_rounds + 1 : 0;
      if (!*is_green) {
        if (const Expected<void> written = WriteBaseline(); !written) {
          return Unexpected(written.error());
        }
      }
    }
    return green_rounds >= kGreenRounds;
  }

  // Shows that a leak which the baseline does not have turns each binary's gate red.
  Expected<bool> Prove() {
    std::set<std::string> proved;
    for (const CtestCommand& program : programs_) {
      if (!proved.insert(program.binary).second) continue;
      const Expected<RunResult> result =
          RunOnce(program, {.has_baseline = true, .plants_leak = true});
      if (!result) return Unexpected(result.error());
      const std::string where = WherePlanted(*result);
      if (result->verdict != Verdict::kOverBudget || where.empty()) {
        PrintMessage(fmt::format("{}: a planted leak of {} bytes did NOT fail the gate",
                                 program.binary, kPlantedBytes));
        return false;
      }
      PrintMessage(fmt::format("{}: proved: {} bytes that were planted in {} failed it",
                               program.binary, kPlantedBytes, where));
    }
    return true;
  }

  Expected<void> PrintAccepted() const {
    constexpr std::size_t kMostCausesShown = 10;
    const Expected<std::vector<Cause>> causes = accepted_.Largest(kMostCausesShown);
    if (!causes) return Unexpected(causes.error());
    if (causes->empty()) {
      PrintMessage(fmt::format("{}: nothing had to be accepted", command_.output.string()));
      return {};
    }
    PrintMessage(fmt::format("{} accepts {}:", command_.output.string(),
                             FormatCount(static_cast<std::int64_t>(accepted_.size()), "cause")));
    Print(stderr, CauseTable(*causes, StyleOfStandardError().base_directory, accepted_.size(),
                             command_.output.string() + " has each"));
    return {};
  }

  void PrintNext() const {
    const std::string name = command_.output.string();
    std::string text = "\nKeep the file in version control. From now on only what is new fails:\n";
    std::set<std::string> told;
    for (const CtestCommand& program : programs_) {
      if (told.size() >= kMostToldBinaries || !told.insert(program.binary).second) continue;
      text += fmt::format("  leakgate run --baseline {} -- {}\n", name, program.binary);
    }
    text += fmt::format(
        "In CMakeLists.txt, each test gated:\n  leakgate_discover_tests(TARGET LEAKGATE_ARGS "
        "--baseline {})\n",
        fs::absolute(command_.output).lexically_normal().string());
    Print(stderr, text);
  }

  // Tells what no baseline makes green, and returns the exit code for it.
  [[nodiscard]] ExitCode TellTroubles() const {
    for (const std::set<std::string>* const lines : {&failing_, &unmeasured_}) {
      for (const std::string& line : *lines) {
        PrintMessage(line + (lines == &failing_ ? "" : "; the gate stays inconclusive"));
      }
    }
    if (!failing_.empty()) return ExitCode::kOverBudget;
    return unmeasured_.empty() ? ExitCode::kPass : ExitCode::kInconclusive;
  }

 private:
  static constexpr std::size_t kMostToldBinaries = 3;

  [[nodiscard]] bool IsShuffled() const {
    return std::any_of(programs_.begin(), programs_.end(),
                       [](const CtestCommand& program) { return !RunsOneTest(program); });
  }

  [[nodiscard]] std::string ProgramsText() const {
    std::set<std::string> binaries;
    for (const CtestCommand& program : programs_) binaries.insert(program.binary);
    const std::string first = *binaries.begin();
    std::string text = binaries.size() == 1 ? first : fmt::format("{} binaries", binaries.size());
    if (programs_.size() > binaries.size()) {
      text += fmt::format(" in {} processes", programs_.size());
    }
    return text;
  }

  Expected<bool> RunRound(const Round& round) {
    bool is_green = true;
    for (const CtestCommand& program : programs_) {
      const Expected<RunResult> result = RunOnce(program, round);
      if (!result) return Unexpected(result.error());
      is_green = is_green && result->verdict != Verdict::kOverBudget;
    }
    return is_green;
  }

  // Runs the program once; what it is over budget for is accepted, but not of a planted leak.
  Expected<RunResult> RunOnce(const CtestCommand& program, const Round& round) {
    const fs::path report = scratch_ / fmt::format("run-{}.json", runs_);
    const fs::path log = scratch_ / fmt::format("run-{}.log", runs_);
    ++runs_;
    std::vector<std::string> arguments = {"run", "--quiet", "--report=json=" + report.string()};
    if (round.has_baseline) {
      arguments.push_back("--baseline=" + fs::absolute(command_.output).string());
    }
    if (round.plants_leak) arguments.emplace_back("--plant-leak");
    arguments.insert(arguments.end(), {"--", program.binary});
    arguments.insert(arguments.end(), program.arguments.begin(), program.arguments.end());
    if (round.seed && !RunsOneTest(program)) {
      arguments.emplace_back("--gtest_shuffle");
      arguments.push_back(fmt::format("--gtest_random_seed={}", *round.seed));
    }
    const Expected<int> code = RunToFile({.program = "/proc/self/exe",
                                          .arguments = std::move(arguments),
                                          .directory = program.directory,
                                          .environment = program.environment},
                                         log);
    if (!code) return Unexpected(code.error());
    return ReadRun(program, report, log, round);
  }

  Expected<RunResult> ReadRun(const CtestCommand& program, const fs::path& report,
                              const fs::path& log, const Round& round) {
    std::optional<RunResult> result;
    const Expected<void> read = ReadResults(report, [&](RunResult&& run, const RunPlace& place) {
      const bool is_accepted =
          !round.plants_leak && (!round.has_baseline || run.verdict == Verdict::kOverBudget);
      if (is_accepted) {
        accepted_.Add(run, place);
        places_.push_back(place);
      }
      result = std::move(run);
    });
    if (!read || !result) {
      Print(stderr, EndOf(log));
      return InconclusiveError(
          fmt::format("{}: could not be run under the gate; see above", program.binary));
    }
    if (!round.plants_leak) NoteTroubles(program, *result);
    return *std::move(result);
  }

  // Notes what no baseline can make green.
  void NoteTroubles(const CtestCommand& program, const RunResult& result) {
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

  static std::string EndOf(const fs::path& log) {
    const auto text = ReadRegularFile(log, kMostLogBytes);
    if (!text) return "";
    std::size_t begin = text->size();
    for (int lines = 0; lines < 12 && begin != 0 && begin != std::string::npos; ++lines) {
      begin = text->rfind('\n', begin - 1);
    }
    std::string end = text->substr(begin == std::string::npos ? 0 : begin);
    std::erase_if(end,
                  [](char letter) { return letter != '\n' && (letter < ' ' || letter == 127); });
    return end + '\n';
  }

  Expected<void> WriteBaseline() {
    Expected<AtomicFile> file = OpenReport({ReportFormat::kJson, command_.output});
    if (!file) return Unexpected(file.error());
    ReportSurroundings surroundings = SurroundingsOfThisProcess();
    surroundings.runs = places_.size();
    const ReportWriter writer = NewReportWriter(ReportFormat::kJson, file->out(), surroundings);
    for (const RunPlace& place : places_) {
      const Expected<RunResult> run = ReadResultAt(place);
      if (!run) return Unexpected(run.error());
      writer.add(*run);
    }
    writer.finish();
    return file->Commit();
  }

  // Returns the test of which the report has the planted block as lost; empty if none has.
  static std::string WherePlanted(const RunResult& result) {
    for (const WindowResult& window : result.windows) {
      if (window.verdict != Verdict::kOverBudget) continue;
      for (const Finding& finding : window.findings) {
        const bool is_planted = finding.amount.bytes >= std::int64_t{kPlantedBytes} &&
                                IsLost(finding.reach) && finding.kind == AllocationKind::kMalloc;
        if (is_planted) return WindowName(window);
      }
    }
    return "";
  }

  const AdoptCommand& command_;
  const fs::path scratch_;
  std::vector<CtestCommand> programs_;
  std::vector<RunPlace> places_;  // of what is accepted
  MergedCauses accepted_;
  std::set<std::string> unmeasured_;
  std::set<std::string> failing_;
  int runs_ = 0;
};

}  // namespace

void Declare(AdoptCommand& command, OptionList& options) {
  options.AddArgument("targets", FileWord("BINARY|BUILD"), command.targets);
  options.Add("-o,--output", FileWord("FILE"), command.output,
              "The baseline. Default: leakgate-baseline.json. It must not exist yet");
  options.AddFlag("--prove", command.proves,
                  "Plant a leak in a test of each binary, and see that the gate fails for it");
}

Expected<void> Complete(AdoptCommand& command, const ProgramLine& program) {
  command.program = program;
  if (command.targets.empty() && program.empty()) {
    return UsageError(
        "nothing to adopt; name test binaries or a CTest build folder: leakgate adopt build, or "
        "leakgate adopt -- BINARY [ARGS...]");
  }
  return {};
}

Expected<int> Execute(const AdoptCommand& command) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(command.output, error))) {
    return UsageError(fmt::format(
        "{}: exists already; remove it to accept anew what it has, or name another file with -o "
        "FILE",
        command.output.string()));
  }
  if (const Expected<void> fits = AtomicFile::CheckPlace(command.output); !fits) {
    return UsageError(fits.error().message);
  }
  const ScratchDirectory scratch = ScratchDirectory::In(fs::temp_directory_path(error).string());
  if (scratch.path().empty()) {
    return Unexpected(Error{"no temporary directory can be made; set TMPDIR to one"});
  }
  Adoption adoption(command, scratch.path());
  if (const Expected<void> found = adoption.FindPrograms(); !found) {
    return Unexpected(found.error());
  }
  const Expected<bool> is_green = adoption.Adopt();
  if (!is_green) return Unexpected(is_green.error());
  if (const Expected<void> printed = adoption.PrintAccepted(); !printed) {
    return Unexpected(printed.error());
  }
  if (!*is_green) {
    PrintMessage(
        fmt::format("the gate is NOT green with it: what is left behind differs from run "
                    "to run, even after {} of them",
                    kMostRounds));
    return static_cast<int>(ExitCode::kOverBudget);
  }
  const ExitCode troubles = adoption.TellTroubles();
  if (troubles == ExitCode::kPass) {
    PrintMessage(fmt::format("green with it, {} times in a row", kGreenRounds));
  }
  if (command.proves) {
    const Expected<bool> is_proved = adoption.Prove();
    if (!is_proved) return Unexpected(is_proved.error());
    if (!*is_proved) return static_cast<int>(ExitCode::kOverBudget);
  }
  adoption.PrintNext();
  return static_cast<int>(troubles);
}

}  // namespace leakgate
