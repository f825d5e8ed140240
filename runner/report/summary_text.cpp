#include "runner/report/summary_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "runner/attribution/code_owner.h"
#include "runner/budget/budget_set.h"
#include "runner/region/amount.h"
#include "runner/report/failure_text.h"
#include "runner/report/finding_text.h"
#include "runner/report/left_behind_text.h"
#include "runner/report/window_text.h"

namespace leakgate {
namespace {

// A person looks through so many. Of more failing tests, their causes are listed.
constexpr std::size_t kMostRows = 10;
// Of the whole summary, and of the causes in it that are told in full.
constexpr std::ptrdiff_t kMostLines = 58;
constexpr std::ptrdiff_t kFewestLines = 24;

std::string Line(std::string_view text) { return "  " + Printable(text) + '\n'; }

// GoogleTest has printed the failures that the listener added. It could not
// fail the program window, nor a test that ended with the process. Some have more by now.
bool IsUnshown(const WindowResult& window, const RunResult& result) {
  return result.tracing.boundaries != BoundarySource::kListener || !window.was_failed_inside ||
         window.was_explained_later || window.failed_inside_for != window.violations;
}

std::ptrdiff_t CountLines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

const RepeatedFailure& FailureOf(const WindowResult& window,
                                 const std::vector<RepeatedFailure>& failures) {
  return *std::find_if(failures.begin(), failures.end(), [&](const RepeatedFailure& failure) {
    return PlainWindowName(*failure.first) == PlainWindowName(window);
  });
}

// The tests that fail for causes which no other test has: each is told as one failure.
std::set<std::string> FindLoneFailures(const std::vector<Cause>& causes) {
  std::set<std::string> lone;
  std::set<std::string> shared;
  for (const Cause& cause : causes) {
    std::set<std::string>& names = cause.windows.size() == 1 ? lone : shared;
    for (const WindowResult* const window : cause.windows) names.insert(PlainWindowName(*window));
  }
  std::erase_if(lone, [&](const std::string& name) { return shared.contains(name); });
  return lone;
}

std::string LoneFailureText(const RepeatedFailure& failure, const TextStyle& style) {
  std::string text = FailureTextWithHeadline(*failure.first, style) + '\n';
  if (failure.iterations > 1) text += fmt::format("  fails{}\n", IterationsText(failure));
  return text + '\n';
}

// Keeps the beginning, which has the answer, and the last line, which has the remedy.
std::string CutLines(const std::string& text, std::ptrdiff_t most) {
  const std::ptrdiff_t count = CountLines(text);
  if (count <= most) return text;
  constexpr std::ptrdiff_t kKeptAtEnd = 2;  // the remedy, and an empty line
  const std::ptrdiff_t left_out = count - most + 1;
  std::string kept;
  std::size_t begin = 0;
  for (std::ptrdiff_t line = 0; line < count; ++line) {
    const std::size_t end = text.find('\n', begin) + 1;
    const std::ptrdiff_t first_cut = most - kKeptAtEnd - 1;
    if (line < first_cut || line >= count - kKeptAtEnd) kept += text.substr(begin, end - begin);
    if (line == first_cut) kept += fmt::format("    ... {} more lines\n", left_out);
    begin = end;
  }
  return kept;
}

// Returns the text of each cause of which GoogleTest has not told all, the largest first: as many
// as `most_lines` have room for.
std::string UnshownCauses(const std::vector<Cause>& causes,
                          const std::vector<RepeatedFailure>& failures, const RunResult& result,
                          const TextStyle& style, std::ptrdiff_t most_lines) {
  const std::set<std::string> lone = FindLoneFailures(causes);
  std::set<std::string> told;
  std::vector<std::function<std::string()>> texts;
  for (const Cause& cause : causes) {
    const bool is_unshown =
        std::any_of(cause.windows.begin(), cause.windows.end(),
                    [&](const WindowResult* window) { return IsUnshown(*window, result); });
    if (!is_unshown) continue;
    const WindowResult& first = *cause.windows.front();
    if (!lone.contains(PlainWindowName(first))) {
      texts.emplace_back([&] { return CauseTextWithHeadline(cause, style) + "\n\n"; });
    } else if (told.insert(PlainWindowName(first)).second) {
      texts.emplace_back([&] { return LoneFailureText(FailureOf(first, failures), style); });
    }
  }
  return FirstTexts(texts, most_lines, "--verbose and the reports tell each in full");
}

// Mostly no budget limits a suite or the program, so that is not worth a line.
bool NeedsLine(const WindowResult& window, Verdict verdict) {
  if (window.verdict != verdict || window.reason.empty()) return false;
  return verdict != Verdict::kNotGated || window.kind == WindowKind::kTest;
}

// Returns each reason once, in the order of the run, with the windows that have it.
std::string ReasonLines(const RunResult& result, Verdict verdict,
                        const std::vector<std::string>& run_reasons) {
  std::vector<std::string> reasons = run_reasons;
  std::map<std::string, std::vector<std::string>> names;
  for (const WindowResult& window : result.windows) {
    if (!NeedsLine(window, verdict)) continue;
    if (std::find(reasons.begin(), reasons.end(), window.reason) == reasons.end()) {
      reasons.push_back(window.reason);
    }
    names[window.reason].push_back(WindowName(window));
  }
  std::string text;
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(reasons.size(), kMost); ++i) {
    const std::string where = FirstNames(names[reasons[i]]);
    text += Line(fmt::format("{}: {}{}", VerdictWords(verdict), reasons[i],
                             where.empty() ? "" : " (" + where + ")"));
  }
  if (reasons.size() > kMost) {
    text += Line(
        fmt::format("{}: for {}; the reports have all", VerdictWords(verdict),
                    FormatCount(static_cast<std::int64_t>(reasons.size() - kMost), "more reason")));
  }
  return text;
}

// Says of the first tests that are unconfirmed what to do, each way once.
std::string UnconfirmedRemedies(const RunResult& result) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> remedies;
  std::string text;
  for (const WindowResult& window : result.windows) {
    if (window.verdict != Verdict::kUnconfirmed || remedies.size() == kMost) continue;
    const std::string remedy = RemedyText(window);
    if (std::find(remedies.begin(), remedies.end(), remedy) != remedies.end()) continue;
    remedies.push_back(remedy);
    text += Line(fmt::format("  {}: {}", WindowName(window), remedy));
  }
  return text;
}

// Returns each reason once why lost blocks could not be found.
std::string ReachLines(const RunResult& result) {
  std::vector<std::string> problems;
  for (const WindowResult& window : result.windows) {
    const std::string& problem = window.reach_problem;
    const bool is_new = std::find(problems.begin(), problems.end(), problem) == problems.end();
    if (!problem.empty() && is_new) problems.push_back(problem);
  }
  std::string text;
  for (const std::string& problem : problems) {
    text += Line("what is lost could not be told: " + problem);
  }
  return text;
}

// Returns a line for each program or library of which what fails has only addresses, or no lines,
// that says why.
std::string UnnamedLines(const std::vector<Cause>& causes) {
  std::vector<std::string> lines;
  const auto add = [&](const Finding& finding) {
    if (!finding.user_frame) return;
    const Frame& frame = finding.stack[*finding.user_frame];
    const std::string module = frame.module.substr(frame.module.rfind('/') + 1);
    if (module.empty() || !frame.file.empty() || IsOfSystemLibrary(frame)) return;
    std::string line =
        frame.function.empty()
            ? module +
                  " has no symbols, so addresses stand for its functions; link it without -s, "
                  "or keep its debug information where debuggers find it"
            : module + " has no debug information, so no line of it is known; compile it with -g";
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  };
  for (const Cause& cause : causes) {
    for (const Finding& finding : cause.worst.findings) add(finding);
    for (const Finding& finding : cause.worst.mappings) add(finding);
    for (const FreeErrorResult& error : cause.worst.free_errors) add(error.freed_at);
  }
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) text += Line(lines[i]);
  return text;
}

// Of a program without tests: what it still held as it ended.
std::string HeldAtEndLine(const RunResult& result) {
  Amount held;
  for (const WindowResult& window : result.windows) {
    if (window.kind == WindowKind::kTest) return "";
    if (window.kind == WindowKind::kProgram && window.verdict == Verdict::kPass &&
        UsesDefaultPolicy(*window.budget)) {
      held += Amount{window.outstanding.bytes - window.lost.bytes - window.known.bytes,
                     window.outstanding.blocks - window.lost.blocks - window.known.blocks};
    }
  }
  if (held.blocks <= 0) return "";
  return Line(FormatAmount(held) +
              " held at the program's end, which passes; where no budget limits it, only what is "
              "lost fails a program");
}

// Returns the entries of budget files that are out of date.
std::string EntryLines(const RunResult& result) {
  std::string text;
  for (const std::string& failure : result.failures) text += Line("over budget: " + failure);
  return text;
}

// Returns the entries that nothing used. They are errors only if the run is strict.
std::string WarningLines(const RunResult& result, SummaryDetail detail) {
  if (detail == SummaryDetail::kQuiet && result.mode != GateMode::kStrict) return "";
  std::string text;
  for (const std::string& warning : result.warnings) text += Line("warning: " + warning);
  return text;
}

std::string ModeLine(const RunResult& result) {
  if (result.mode == GateMode::kWarnOnly) {
    return Line("--warn-only: this run gates nothing, whatever it found");
  }
  const bool is_strict_failure =
      result.mode == GateMode::kStrict && result.verdict == Verdict::kOverBudget &&
      std::none_of(result.windows.begin(), result.windows.end(), [](const WindowResult& window) {
        return window.verdict == Verdict::kOverBudget;
      });
  return is_strict_failure ? Line("--strict: what is unconfirmed or unused fails the run") : "";
}

std::string DropsLine(const TracingResult& tracing) {
  std::vector<std::string> drops;
  for (const auto& [reason, count] : tracing.drops) {
    if (count != 0) drops.push_back(fmt::format("{} {}", count, reason));
  }
  if (drops.empty()) return "";
  return Line(fmt::format("not recorded: {}", fmt::join(drops, ", ")));
}

std::string ProgramExitLine(const RunResult& result) {
  if (result.program.ShellCode() == 0) return "";
  return Line(fmt::format("the program {}; leakgate exits with {}", ProgramExitText(result.program),
                          result.exit_code));
}

std::string FrameworkClause(const RunResult& result) {
  Amount framework;
  for (const WindowResult& window : result.windows) {
    if (window.kind == WindowKind::kTest) framework += window.framework;
  }
  if (framework == Amount{}) return "";
  return fmt::format("; framework {} not counted", FormatBytes(framework.bytes));
}

std::string ConfirmingClause(const RunResult& result) {
  if (result.confirming.count() == 0) return "";
  return fmt::format(" and confirming {}", FormatDuration(result.confirming));
}

// Says so where fewer places are to be looked at than fail.
std::string CausesClause(const std::vector<Cause>& causes, std::size_t failures) {
  if (causes.size() >= failures) return "";
  return "; from " + FormatCount(static_cast<std::int64_t>(causes.size()), "cause");
}

std::string AnswerLine(const RunResult& result, const std::string& causes, Colour colour) {
  return fmt::format("leakgate: {}{}; gating took {}{} of {}{}\n", CountsText(result, colour),
                     causes, FormatDuration(result.gating), ConfirmingClause(result),
                     FormatDuration(result.wall), FrameworkClause(result));
}

// Returns what is left behind and passes, and why, so that a reader can check it.
std::string PassedLines(const RunResult& result, const TextStyle& style, SummaryDetail detail) {
  const std::string fates = PassedFates(result.windows);
  if (detail == SummaryDetail::kNormal) {
    return fates.empty() ? "" : Line("not counted: " + fates + "; the JSON report has each");
  }
  const std::string findings = PassedFindingsText(result.windows, style);
  if (findings.empty()) return "";
  return Line(fates.empty() ? "not counted:" : "not counted: " + fates + ":") + findings;
}

// Mappings that nothing limits fail no test, so they are shown only to those who want all.
std::string MappedLines(const RunResult& result, const TextStyle& style, SummaryDetail detail) {
  if (detail != SummaryDetail::kVerbose || result.tracing.mapped == Amount{}) return "";
  Amount left;
  for (const WindowResult& window : result.windows) left += window.mapped;
  const std::string sites = MappedSitesText(result.windows, style);
  return Line(fmt::format("mapped: {} left, of {} by {}{}", FormatMapped(left),
                          FormatBytes(result.tracing.mapped.bytes),
                          FormatCount(result.tracing.mapped.blocks, "call"),
                          sites.empty() ? "" : ":")) +
         sites;
}

// Returns what measuring windows left behind. No verdict depends on it.
std::string MeasuredLines(const RunResult& result, const TextStyle& style) {
  std::string text;
  for (const WindowResult& window : result.windows) {
    for (const MeasuringWindowResult& measured : window.measuring_windows) {
      const std::string line = WindowName(window) + ": " + MeasuringWindowLine(measured);
      text += Line(WithRelativePaths(line, style.base_directory));
    }
  }
  return text;
}

std::string CostLines(const RunResult& result, SummaryDetail detail) {
  const bool shows_all = detail == SummaryDetail::kVerbose;
  std::string text;
  for (const std::string& line : {shows_all ? Slowest(result) : SlowestThatStandOut(result),
                                  shows_all ? Heaviest(result) : HeaviestThatStandOut(result)}) {
    if (!line.empty()) text += Line(line);
  }
  return text;
}

std::int64_t CountKnown(const WindowResult& window) {
  const auto known = [](const auto& one) { return one.baseline == BaselineState::kKnown; };
  return std::count_if(window.findings.begin(), window.findings.end(), known) +
         std::count_if(window.mappings.begin(), window.mappings.end(), known) +
         std::count_if(window.free_errors.begin(), window.free_errors.end(), known) +
         static_cast<std::int64_t>(window.known_violations.size());
}

std::string FirstRows(std::vector<Cause> causes, const std::string& base_directory) {
  const std::size_t count = causes.size();
  causes.resize(std::min(count, kMostRows));
  return CauseTable(causes, base_directory, count, "--verbose lists all failing tests");
}

std::string BaselineLine(const RunResult& result) {
  if (result.baseline.empty()) return "";
  std::int64_t known = 0;
  for (const WindowResult& window : result.windows) known += CountKnown(window);
  return Line(fmt::format("{} known from baseline ({})", known, result.baseline));
}

}  // namespace

std::string FirstTexts(const std::vector<std::function<std::string()>>& texts,
                       std::ptrdiff_t most_lines, std::string_view where_all_are) {
  const bool shows_all = most_lines == std::numeric_limits<std::ptrdiff_t>::max();
  constexpr std::ptrdiff_t kMostOfOne = 24;
  std::string all;
  std::size_t told = 0;
  for (; told < texts.size(); ++told) {
    if (!texts[told]) break;
    std::string one = texts[told]();
    if (texts.size() > 1 && !shows_all) one = CutLines(one, kMostOfOne);
    const bool has_room = told == 0 || CountLines(all) + CountLines(one) <= most_lines;
    if (!has_room) break;
    all += one;
  }
  if (told == texts.size()) return all;
  const auto left_out = static_cast<std::int64_t>(texts.size() - told);
  return all + fmt::format("and {}; {}\n\n", FormatCount(left_out, "more cause"), where_all_are);
}

std::string SummaryText(const RunResult& result, const TextStyle& style, SummaryDetail detail) {
  const bool is_quiet = detail == SummaryDetail::kQuiet;
  // A program that fails by itself has said why.
  if (is_quiet && result.verdict == Verdict::kPass) return "";

  const std::vector<RepeatedFailure> failures = CollectFailures(result);
  const std::vector<Cause> causes = CollectCauses(result.windows);
  const bool shows_all = detail == SummaryDetail::kVerbose;
  const std::string table = shows_all || failures.size() <= kMostRows
                                ? FailureTable(failures)
                                : FirstRows(causes, style.base_directory);
  std::string text =
      AnswerLine(result, CausesClause(causes, failures.size()), style.colour) + table;
  const std::string inconclusive = ReasonLines(result, Verdict::kInconclusive, result.reasons);
  if (!inconclusive.empty())
    text += inconclusive + Line("what helps: leakgate help troubleshooting");
  text += ReasonLines(result, Verdict::kUnconfirmed, {}) + UnconfirmedRemedies(result);
  if (!is_quiet) {
    text += PassedLines(result, style, detail) + MappedLines(result, style, detail) +
            HeldAtEndLine(result) + BaselineLine(result);
  }
  text += UnnamedLines(causes) + ReachLines(result) + EntryLines(result) +
          WarningLines(result, detail) + ModeLine(result);
  if (!is_quiet) text += ReasonLines(result, Verdict::kNotGated, {});
  text += DropsLine(result.tracing) + ProgramExitLine(result);
  if (shows_all) text += MeasuredLines(result, style);
  if (!is_quiet) text += CostLines(result, detail);
  const std::ptrdiff_t room = shows_all ? std::numeric_limits<std::ptrdiff_t>::max()
                                        : std::max(kMostLines - CountLines(text), kFewestLines);
  return UnshownCauses(causes, failures, result, style, room) + text;
}

}  // namespace leakgate
