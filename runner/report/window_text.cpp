#include "runner/report/window_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "runner/base/word_table.h"
#include "runner/region/amount.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

std::string_view SignalName(int signal) {
  using Entry = std::pair<int, std::string_view>;
  constexpr std::array<Entry, 13> kNames = {{{1, "SIGHUP"},
                                             {2, "SIGINT"},
                                             {3, "SIGQUIT"},
                                             {4, "SIGILL"},
                                             {5, "SIGTRAP"},
                                             {6, "SIGABRT"},
                                             {7, "SIGBUS"},
                                             {8, "SIGFPE"},
                                             {9, "SIGKILL"},
                                             {11, "SIGSEGV"},
                                             {13, "SIGPIPE"},
                                             {14, "SIGALRM"},
                                             {15, "SIGTERM"}}};
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const Entry& entry) { return entry.first == signal; });
  return found == kNames.end() ? "" : found->second;
}

// A value that no enumerator has reads as the first word.
constexpr std::array kVerdictWords = {
    Named{Verdict::kInconclusive, "inconclusive"}, Named{Verdict::kPass, "pass"},
    Named{Verdict::kOverBudget, "over budget"},    Named{Verdict::kNotGated, "not gated"},
    Named{Verdict::kUnconfirmed, "unconfirmed"},
};
constexpr std::array kVerdicts = {Verdict::kPass, Verdict::kOverBudget, Verdict::kInconclusive,
                                  Verdict::kUnconfirmed, Verdict::kNotGated};

std::int64_t Count(const RunResult& result, WindowKind kind, Verdict verdict) {
  return std::count_if(result.windows.begin(), result.windows.end(), [&](const WindowResult& w) {
    return w.kind == kind && w.verdict == verdict;
  });
}

// Returns "214 tests", or "30 runs of 10 tests" if some ran more than once.
std::string TestsText(const RunResult& result) {
  std::set<std::string> names;
  std::int64_t runs = 0;
  for (const WindowResult& window : result.windows) {
    if (window.kind != WindowKind::kTest) continue;
    names.insert(window.name);
    ++runs;
  }
  const auto tests = static_cast<std::int64_t>(names.size());
  if (runs == tests) return FormatCount(tests, "test");
  return fmt::format("{} of {}", FormatCount(runs, "run"), FormatCount(tests, "test"));
}

// Returns "211 pass, 2 over budget, 1 skipped". What no test has is left out.
std::string TestVerdicts(const RunResult& result, Colour colour) {
  std::vector<std::string> counts;
  const std::int64_t skipped =
      std::count_if(result.windows.begin(), result.windows.end(), WasSkipped);
  for (const Verdict verdict : kVerdicts) {
    const std::int64_t count =
        Count(result, WindowKind::kTest, verdict) - (verdict == Verdict::kPass ? skipped : 0);
    if (count == 0) continue;
    const std::string text = fmt::format("{} {}", count, VerdictWords(verdict));
    counts.push_back(PaintVerdict(text, verdict, colour));
  }
  if (skipped != 0) counts.push_back(fmt::format("{} skipped", skipped));
  return fmt::format("{}", fmt::join(counts, ", "));
}

bool HasTests(const RunResult& result) {
  return std::any_of(result.windows.begin(), result.windows.end(),
                     [](const WindowResult& window) { return window.kind == WindowKind::kTest; });
}

std::string ProcessesText(std::int64_t count) {
  return fmt::format("{} process{}", count, count == 1 ? "" : "es");
}

// Adds the counts of bad suites, or of bad child processes.
void AddBad(const RunResult& result, WindowKind kind, Colour colour,
            std::vector<std::string>& parts) {
  for (const Verdict verdict : {Verdict::kOverBudget, Verdict::kInconclusive}) {
    const std::int64_t count = Count(result, kind, verdict);
    if (count == 0) continue;
    const std::string text = fmt::format(
        "{} {}", kind == WindowKind::kSuite ? FormatCount(count, "suite") : ProcessesText(count),
        VerdictWords(verdict));
    parts.push_back(PaintVerdict(text, verdict, colour));
  }
}

// Adds the verdict of the program's window if it is bad, or if there is nothing else to tell.
void AddProgram(const RunResult& result, Colour colour, std::vector<std::string>& parts) {
  const bool alone = !HasTests(result);
  for (const Verdict verdict : kVerdicts) {
    if (Count(result, WindowKind::kProgram, verdict) == 0) continue;
    const bool is_bad = verdict == Verdict::kOverBudget || verdict == Verdict::kInconclusive;
    if (!is_bad && !alone) continue;
    const std::string text = "program " + std::string(VerdictWords(verdict));
    parts.push_back(PaintVerdict(text, verdict, colour));
  }
}

std::string Subject(const RunResult& result, Colour colour) {
  if (HasTests(result)) return TestsText(result) + ": " + TestVerdicts(result, colour);
  if (result.tracing.boundaries != BoundarySource::kNone) return "no test ran";
  return "no test boundaries, so only the program was judged";
}

bool AnyWindow(const RunResult& result, Verdict verdict) {
  return std::any_of(result.windows.begin(), result.windows.end(),
                     [&](const WindowResult& window) { return window.verdict == verdict; });
}

}  // namespace

std::string ProgramExitText(const ProgramExit& program) {
  if (const std::optional<std::uint32_t> exception = program.Exception()) {
    return fmt::format("was ended by exception 0x{:X}", *exception);
  }
  if (!program.signal) return fmt::format("exited with {}", program.exit_code.value_or(0));
  const std::string_view name = SignalName(*program.signal);
  const std::string number = fmt::format("was killed by signal {}", *program.signal);
  return name.empty() ? number : fmt::format("{} ({})", number, name);
}

std::string PaintVerdict(const std::string& text, Verdict verdict, Colour colour) {
  switch (verdict) {
    case Verdict::kPass:
      return Paint(text, Emphasis::kGood, colour);
    case Verdict::kOverBudget:
      return Paint(text, Emphasis::kBad, colour);
    case Verdict::kInconclusive:
    case Verdict::kUnconfirmed:
      return Paint(text, Emphasis::kUncertain, colour);
    case Verdict::kNotGated:
      break;
  }
  return text;
}

std::string_view VerdictWords(Verdict verdict) { return WordIn(kVerdictWords, verdict); }

std::string CountsText(const RunResult& result, Colour colour) {
  std::vector<std::string> parts;
  const bool unexplained =
      result.verdict == Verdict::kInconclusive && !AnyWindow(result, Verdict::kInconclusive);
  if (unexplained) parts.push_back(Paint("inconclusive", Emphasis::kUncertain, colour));
  parts.push_back(Subject(result, colour));
  AddBad(result, WindowKind::kSuite, colour, parts);
  AddBad(result, WindowKind::kProcess, colour, parts);
  AddProgram(result, colour, parts);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string PlainWindowName(const WindowResult& window) {
  if (window.kind == WindowKind::kSuite) return "suite " + window.name;
  if (window.kind == WindowKind::kProgram) return "program " + window.name;
  if (window.kind != WindowKind::kProcess) return window.name;
  const std::string process = "process " + window.name;
  return window.started_by.empty() ? process : process + " of " + window.started_by;
}

std::string WindowName(const WindowResult& window) {
  const std::string name = PlainWindowName(window);
  return window.iteration > 1 ? name + " #" + std::to_string(window.iteration) : name;
}

std::string FirstNames(const std::vector<std::string>& names) {
  return FirstNames(names, static_cast<std::int64_t>(names.size()));
}

std::string FirstNames(const std::vector<std::string>& names, std::int64_t count) {
  constexpr std::size_t kMostNames = 3;
  constexpr std::size_t kLongName = 80;
  const std::size_t shown = std::min(names.size(), kMostNames);
  std::vector<std::string> first;
  for (std::size_t i = 0; i < shown; ++i) first.push_back(CutMiddle(names[i], kLongName));
  const std::string text = fmt::format("{}", fmt::join(first, ", "));
  const std::int64_t more = count - static_cast<std::int64_t>(shown);
  return more > 0 ? fmt::format("{} and {} more", text, more) : text;
}

}  // namespace leakgate
