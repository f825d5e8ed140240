#include "runner/report/summary_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "runner/region/amount.h"
#include "runner/report/failure_text.h"
#include "runner/report/finding_text.h"
#include "runner/report/left_behind_text.h"
#include "runner/report/window_text.h"

namespace leakgate {
namespace {

std::string Line(std::string_view text) { return "  " + Printable(text) + '\n'; }

// GoogleTest has printed the failures that the listener added. It could not
// fail the program window, nor a test that ended with the process.
bool IsUnshown(const WindowResult& window, const RunResult& result) {
  return result.tracing.boundaries != BoundarySource::kListener || !window.was_failed_inside;
}

std::string UnshownFailures(const std::vector<RepeatedFailure>& failures, const RunResult& result,
                            const TextStyle& style) {
  std::string text;
  for (const RepeatedFailure& failure : failures) {
    if (!IsUnshown(*failure.first, result)) continue;
    text += FailureTextWithHeadline(*failure.first, style) + '\n';
    if (failure.iterations > 1) {
      text += fmt::format("  fails{}\n", IterationsText(failure));
    }
    text += '\n';
  }
  return text;
}

// Mostly no budget limits a suite or the program, so that is not worth a line.
bool IsWorthALine(const WindowResult& window, Verdict verdict) {
  if (window.verdict != verdict || window.reason.empty()) return false;
  return verdict != Verdict::kNotGated || window.kind == WindowKind::kTest;
}

// Returns each reason once, in the order of the run, with the windows that have it.
std::string ReasonLines(const RunResult& result, Verdict verdict,
                        const std::vector<std::string>& run_reasons) {
  std::vector<std::string> reasons = run_reasons;
  std::map<std::string, std::vector<std::string>> names;
  for (const WindowResult& window : result.windows) {
    if (!IsWorthALine(window, verdict)) continue;
    if (std::find(reasons.begin(), reasons.end(), window.reason) == reasons.end()) {
      reasons.push_back(window.reason);
    }
    names[window.reason].push_back(WindowName(window));
  }
  std::string text;
  for (const std::string& reason : reasons) {
    const std::string where = FirstNames(names[reason]);
    text += Line(fmt::format("{}: {}{}", VerdictWords(verdict), reason,
                             where.empty() ? "" : " (" + where + ")"));
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

std::string AnswerLine(const RunResult& result, Colour colour) {
  return fmt::format("leakgate: {}; gating took {}{} of {}{}\n", CountsText(result, colour),
                     FormatDuration(result.gating), ConfirmingClause(result),
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
         std::count_if(window.free_errors.begin(), window.free_errors.end(), known) +
         static_cast<std::int64_t>(window.known_violations.size());
}

std::string BaselineLine(const RunResult& result) {
  if (result.baseline.empty()) return "";
  std::int64_t known = 0;
  for (const WindowResult& window : result.windows) known += CountKnown(window);
  return Line(fmt::format("{} known from baseline ({})", known, result.baseline));
}

}  // namespace

std::string SummaryText(const RunResult& result, const TextStyle& style, SummaryDetail detail) {
  const bool is_quiet = detail == SummaryDetail::kQuiet;
  // A program that fails by itself has said why.
  if (is_quiet && result.verdict == Verdict::kPass) return "";

  const std::vector<RepeatedFailure> failures = CollectFailures(result);
  std::string text = UnshownFailures(failures, result, style) + AnswerLine(result, style.colour) +
                     FailureTable(failures) +
                     ReasonLines(result, Verdict::kInconclusive, result.reasons) +
                     ReasonLines(result, Verdict::kUnconfirmed, {});
  if (!is_quiet) {
    text += PassedLines(result, style, detail) + MappedLines(result, style, detail) +
            BaselineLine(result);
  }
  text += ReachLines(result) + EntryLines(result) + WarningLines(result, detail) + ModeLine(result);
  if (!is_quiet) text += ReasonLines(result, Verdict::kNotGated, {});
  text += DropsLine(result.tracing) + ProgramExitLine(result);
  if (detail == SummaryDetail::kVerbose) text += MeasuredLines(result, style);
  return is_quiet ? text : text + CostLines(result, detail);
}

}  // namespace leakgate
