#include "runner/cli/commands/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "runner/attribution/suppressions.h"
#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/cli/commands/accepted_baseline.h"
#include "runner/cli/commands/gate_instructions.h"
#include "runner/cli/commands/gated_runs.h"
#include "runner/cli/option_values.h"
#include "runner/cli/terminal.h"
#include "runner/process/process_image.h"
#include "runner/report/window_text.h"
#include "runner/results/budgets/component_budgets.h"
#include "runner/run/adopted_programs.h"
#include "runner/run/child_command.h"
#include "runner/run/repetition.h"
#include "runner/run/test_listing.h"
#include "runner/symbols/linker_names.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRounds = 5;   // in which tests run shuffled
constexpr int kGreenRounds = 2;  // of these in a row are enough

// Returns the test of which the report has the planted block as lost; empty if none has.
std::string WherePlanted(const RunResult& result) {
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

// Runs programs under the gate, and collects what it accepts.
class Adoption {
 public:
  Adoption(const AdoptCommand& command, std::vector<CtestCommand> programs,
           std::optional<ComponentBudgets> budgets, fs::path scratch)
      : programs_(std::move(programs)),
        budgets_(std::move(budgets)),
        baseline_(command.output),
        scratch_(std::move(scratch)),
        runs_(scratch_) {}

  // Runs all as it is, and then shuffled until the gate holds.
  Expected<bool> Adopt() {
    PrintMessage(fmt::format("running {}", ProgramsText(programs_)));
    const Expected<bool> first = RunRound({}, Accepting::kAll);
    if (!first) return first;
    LEAKGATE_TRY(Write());
    int green_rounds = 0;
    for (int round = 1; round <= kMostRounds && green_rounds < kGreenRounds; ++round) {
      PrintMessage(fmt::format("running again with {}, {} {}", AcceptedText(),
                               IsShuffled() ? "in another order:" : "round", round));
      const Expected<bool> is_green = RunRound(round, Accepting::kFailures);
      if (!is_green) return is_green;
      green_rounds = *is_green ? green_rounds + 1 : 0;
      if (*is_green) continue;
      LEAKGATE_TRY(Write());
    }
    return green_rounds >= kGreenRounds;
  }

  // Shows that a leak which has not been accepted turns each binary's gate red.
  Expected<bool> Prove() {
    for (const std::string& binary : BinariesOf(programs_)) {
      const auto program =
          std::find_if(programs_.begin(), programs_.end(),
                       [&](const CtestCommand& it) { return it.binary == binary; });
      GatedRuns::Gate gate{.options = GateOptions()};
      gate.options.emplace_back("--plant-leak");
      LEAKGATE_TRY_ASSIGN(const GatedRuns::Run run, runs_.RunOnce(*program, gate));
      const std::string where = WherePlanted(run.result);
      if (run.result.verdict != Verdict::kOverBudget || where.empty()) {
        PrintMessage(fmt::format("{}: a planted leak of {} bytes did NOT fail the gate", binary,
                                 kPlantedBytes));
        return false;
      }
      PrintMessage(fmt::format("{}: proved: {} bytes that were planted in {} failed it", binary,
                               kPlantedBytes, where));
    }
    return true;
  }

  Expected<void> PrintAccepted() const {
    const std::string base = StyleOfStandardError().base_directory;
    if (budgets_) Print(stderr, budgets_->Text(base));
    if (!HasBaseline()) return {};
    if (HasBudgets()) {
      PrintMessage(
          budgets_->IsOneFile()
              ? "the baseline has what no suppression covers, and what no budget can have: freeing "
                "errors, descriptors, and what the program leaves"
              : "the baseline has what no component's budget can: freeing errors, descriptors, "
                "and what the program or a test from elsewhere leaves");
    }
    LEAKGATE_TRY_ASSIGN(const std::string text, baseline_.Text(base));
    Print(stderr, text);
    return {};
  }

  void PrintNext() const {
    GateFiles files;
    if (HasBudgets()) files.budgets = budgets_->place();
    if (HasBaseline() && !IsClean()) files.baseline = baseline_.file();
    const char* const lead =
        IsClean() ? "\nThe tests leave nothing behind, and whatever they leave from now on fails:\n"
        : files.budgets
            ? "\nKeep the files in version control. From now on only what is new fails:\n"
            : "\nKeep the file in version control. From now on only what is new fails:\n";
    Print(stderr, lead + GateInstructions(files, BinariesOf(programs_)));
  }

  // Tells what nothing makes green, and returns the exit code for it.
  [[nodiscard]] ExitCode PrintProblems() const {
    for (const std::string& line : runs_.failing()) PrintMessage(line);
    for (const std::string& line : runs_.unmeasured()) {
      PrintMessage(line + "; the gate stays inconclusive");
    }
    if (!runs_.failing().empty()) return ExitCode::kOverBudget;
    return runs_.unmeasured().empty() ? ExitCode::kPass : ExitCode::kInconclusive;
  }

  // Returns "the baseline", "the budgets", or both.
  [[nodiscard]] std::string AcceptedText() const {
    if (!HasBudgets()) return "the baseline";
    return HasBaseline() ? "the budgets and the baseline" : "the budgets";
  }

 private:
  enum class Accepting { kAll, kFailures };  // whole runs, or those that failed

  static std::string Absolute(const fs::path& path) {
    const fs::path absolute = fs::absolute(path).lexically_normal();
    return PathText(absolute.has_filename() ? absolute : absolute.parent_path());
  }

  [[nodiscard]] bool HasBudgets() const { return budgets_ && budgets_->HasFiles(); }
  // Beside budget files, a baseline is written only if it has something.
  [[nodiscard]] bool HasBaseline() const { return !HasBudgets() || !baseline_.empty(); }

  [[nodiscard]] bool IsClean() const {
    return !baseline_.HasCauses() && (!budgets_ || !budgets_->HasCauses());
  }

  [[nodiscard]] bool IsShuffled() const {
    return !std::all_of(programs_.begin(), programs_.end(), RunsOneTest);
  }

  [[nodiscard]] std::vector<std::string> GateOptions() const {
    std::vector<std::string> options;
    if (HasBudgets()) options.push_back("--budgets=" + Absolute(budgets_->place()));
    if (HasBaseline()) options.push_back("--baseline=" + Absolute(baseline_.file()));
    // Allowances take what passes by proof, too, if they match it: then it has to have names.
    options.emplace_back(budgets_ ? "--verbose" : "--quiet");
    return options;
  }

  // Runs all programs once, without a gate if `seed` is not given. Returns whether nothing fails.
  Expected<bool> RunRound(std::optional<int> seed, Accepting accepting) {
    bool is_green = true;
    for (const CtestCommand& program : programs_) {
      GatedRuns::Gate gate{.options = {budgets_ ? "--verbose" : "--quiet"}, .seed = seed};
      if (accepting == Accepting::kFailures) gate.options = GateOptions();
      LEAKGATE_TRY_ASSIGN(const GatedRuns::Run run, runs_.RunOnce(program, gate));
      runs_.NoteTroubles(program, run.result);
      const bool fails = run.result.verdict == Verdict::kOverBudget;
      is_green = is_green && !fails;
      if (accepting == Accepting::kFailures && !fails) continue;
      LEAKGATE_TRY(Accept(run, program));
    }
    return is_green;
  }

  Expected<void> Accept(const GatedRuns::Run& run, const CtestCommand& program) {
    if (!budgets_) {
      baseline_.Add(run.result, run.place);
      return {};
    }
    const RunResult rest = budgets_->Accept(program.binary, run.result);
    if (rest.windows.empty()) return {};
    LEAKGATE_TRY_ASSIGN(const RunPlace place,
                        WriteRunReport(scratch_ / fmt::format("rest-{}.json", rests_++), rest));
    baseline_.Add(rest, place);
    return {};
  }

  Expected<void> Write() {
    if (budgets_) {
      if (const Expected<void> written = budgets_->Write(); !written) return written;
    }
    return HasBaseline() ? baseline_.Write() : Expected<void>();
  }

  const std::vector<CtestCommand> programs_;
  std::optional<ComponentBudgets> budgets_;
  AcceptedBaseline baseline_;
  const fs::path scratch_;
  GatedRuns runs_;
  int rests_ = 0;
};

Expected<void> RequireNewFile(const fs::path& output) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(output, error))) {
    return UsageError(fmt::format(
        "{}: exists already; remove it to accept anew what it has, or name another file with -o "
        "FILE",
        PathText(output)));
  }
  if (const Expected<void> fits = AtomicFile::CheckPlace(output); !fits) {
    return UsageError(fits.error().message);
  }
  return {};
}

Expected<Suppressions> LoadSuppressions(const std::vector<fs::path>& files) {
  constexpr std::size_t kLargestFile = std::size_t{16} << 20;
  std::vector<Suppression> all;
  for (const fs::path& file : files) {
    const auto text = ReadRegularFile(file, kLargestFile);
    if (!text) {
      return UsageError(fmt::format("{}: cannot be read: {}; name a file of suppressions",
                                    PathText(file), text.error().message()));
    }
    LEAKGATE_TRY_ASSIGN(std::vector<Suppression> read, ParseSuppressions(PathText(file), *text));
    std::move(read.begin(), read.end(), std::back_inserter(all));
  }
  const auto names = std::make_shared<LinkerNames>();
  return Suppressions(std::move(all), [names](const Frame& frame) {
    return names->At(frame.module, frame.module_offset);
  });
}

// Tells which suppressions are not taken over.
void PrintUnused(const Suppressions& suppressions) {
  constexpr std::size_t kMostTold = 20;
  const std::vector<std::string> lines = suppressions.Unused();
  const std::size_t told = std::min(lines.size(), kMostTold);
  for (std::size_t i = 0; i < told; ++i) PrintMessage(Printable(lines[i]));
  if (lines.size() > told) {
    PrintMessage(fmt::format("{} more suppressions are not taken over", lines.size() - told));
  }
}

// Returns where the suppressions' allowances go if no folder is named: beside the baseline.
Expected<ComponentBudgets> SuppressedBudget(const AdoptCommand& command) {
  const fs::path file = command.output.parent_path() / "suppressed.leakgate.json";
  LEAKGATE_TRY(RequireNewFile(file));
  return ComponentBudgets::OneFile(file);
}

// Finds the components of the programs' tests; returns nothing if a baseline is to have all.
Expected<std::optional<ComponentBudgets>> FindComponents(
    const AdoptCommand& command, const std::vector<CtestCommand>& programs) {
  if (command.budgets.empty() && command.suppressions.empty()) {
    return std::optional<ComponentBudgets>();
  }
  LEAKGATE_TRY_ASSIGN(ComponentBudgets budgets, command.budgets.empty()
                                                    ? SuppressedBudget(command)
                                                    : ComponentBudgets::In(command.budgets));
  for (const std::string& binary : BinariesOf(programs)) {
    LEAKGATE_TRY_ASSIGN(const fs::path program, FindProgram(binary));
    LEAKGATE_TRY(budgets.AddTests(binary, ListTests(program, {})));
  }
  if (!budgets.HasFiles() && !budgets.IsOneFile()) {
    PrintMessage(fmt::format(
        "{}: the source of no test lies below it, so no component can be told: a baseline has all",
        PathText(command.budgets)));
  }
  return std::optional(std::move(budgets));
}

}  // namespace

void Declare(AdoptCommand& command, OptionList& options) {
  options.AddArgument("targets", FileWord("BINARY|BUILD"), command.targets);
  options.Add("-o,--output", FileWord("FILE"), command.output,
              "The baseline. Default: leakgate-baseline.json. It must not exist yet");
  options.Add("--budgets", FileWord("DIR"), command.budgets,
              "Instead write a budget file for each component, next to the sources of its tests: "
              "for each folder in DIR, or those that CODEOWNERS names. What has no component goes "
              "into the baseline");
  options.Add("--suppressions", FileWord("FILE"), command.suppressions,
              "Take over suppressions of LeakSanitizer's or valgrind's: what they cover gets an "
              "allowance that names them, in the budget files or in suppressed.leakgate.json "
              "beside the baseline");
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
  LEAKGATE_TRY(RequireNewFile(command.output));
  LEAKGATE_TRY_ASSIGN(Suppressions suppressions, LoadSuppressions(command.suppressions));
  std::error_code error;
  const ScratchDirectory scratch = ScratchDirectory::In(PathText(fs::temp_directory_path(error)));
  if (scratch.path().empty()) {
    return Unexpected(Error{"no temporary directory can be made; set TMPDIR to one"});
  }
  LEAKGATE_TRY_ASSIGN(
      std::vector<CtestCommand> programs,
      FindAdoptedPrograms({command.targets, command.program}, scratch.path(), PrintMessage));
  LEAKGATE_TRY_ASSIGN(std::optional<ComponentBudgets> budgets, FindComponents(command, programs));
  if (budgets) budgets->UseReasonsOf(suppressions);
  Adoption adoption(command, std::move(programs), std::move(budgets), scratch.path());
  LEAKGATE_TRY_ASSIGN(const bool is_green, adoption.Adopt());
  LEAKGATE_TRY(adoption.PrintAccepted());
  PrintUnused(suppressions);
  if (!is_green) {
    PrintMessage(
        fmt::format("the gate is NOT green with it: what is left behind differs from run "
                    "to run, even after {} of them",
                    kMostRounds));
    return static_cast<int>(ExitCode::kOverBudget);
  }
  const ExitCode troubles = adoption.PrintProblems();
  if (troubles == ExitCode::kPass) {
    PrintMessage(fmt::format("green with it, {} times in a row", kGreenRounds));
  }
  if (command.proves) {
    LEAKGATE_TRY_ASSIGN(const bool is_proved, adoption.Prove());
    if (!is_proved) return static_cast<int>(ExitCode::kOverBudget);
  }
  adoption.PrintNext();
  return static_cast<int>(troubles);
}

}  // namespace leakgate
