#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "runner/region/amount.h"
#include "runner/report/failure_text.h"
#include "runner/report/summary_text.h"
#include "runner/report/window_text.h"
#include "runner/results/merged_runs.h"

namespace leakgate {
namespace {

std::string Lines(std::string_view lead, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += "  " + Printable(fmt::format("{}: {}", lead, line)) + '\n';
  }
  return text;
}

// Makes a failure look like one of a single run, for its table.
WindowResult ToResult(const std::string& binary, const MergedFailure& failure) {
  WindowResult result = failure.window;
  result.iteration = 1;
  result.started_by.clear();
  result.name = fmt::format("{} ({})", result.name, binary);
  if (failure.runs > 1) result.name += fmt::format(" in {} runs", failure.runs);
  return result;
}

// Causes are told in full as far as a screen has room for them.
std::string CauseTexts(const MergedRuns& runs, const std::vector<Cause>& causes,
                       const TextStyle& style) {
  std::vector<std::function<std::string()>> texts;
  for (const Cause& cause : causes) {
    texts.emplace_back([&] { return CauseTextWithHeadline(cause, style) + "\n\n"; });
  }
  // Those that were not read count as well.
  texts.resize(runs.causes().size());
  return FirstTexts(texts, kMostCauseLines, "the merged report has each");
}

std::string FailureLines(const MergedRuns& runs, const std::vector<Cause>& causes,
                         const TextStyle& style) {
  if (runs.failures_left_out() != 0) {
    return CauseTable(causes, style.base_directory, runs.causes().size(),
                      "the merged report has each");
  }
  std::vector<WindowResult> windows;
  for (const auto& [key, failure] : runs.failures()) {
    windows.push_back(ToResult(std::get<1>(key), failure));
  }
  std::vector<RepeatedFailure> failures;
  for (const WindowResult& window : windows) {
    failures.push_back({.first = &window, .largest = &window, .iterations = 1});
  }
  return FailureTable(std::move(failures));
}

std::string TestsText(const MergedRuns& runs, Colour colour) {
  std::int64_t tests = 0;
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : runs.CountTests()) {
    tests += count;
    const std::string text = fmt::format("{} {}", count, VerdictWords(verdict));
    parts.push_back(PaintVerdict(text, verdict, colour));
  }
  if (const std::int64_t skipped = runs.CountSkippedTests(); skipped != 0) {
    tests += skipped;
    parts.push_back(fmt::format("{} skipped", skipped));
  }
  if (tests == 0) return "no test ran";
  return fmt::format("{}: {}", FormatCount(tests, "test"), fmt::join(parts, ", "));
}

std::string BinariesText(std::size_t count) {
  return count == 1 ? "1 binary" : fmt::format("{} binaries", count);
}

std::string AnswerLine(const MergedRuns& runs, const MergeVerdict& verdict, Colour colour) {
  if (runs.size() == 0) {
    return "leakgate: " + Paint("inconclusive", Emphasis::kUncertain, colour) + "; no runs\n";
  }
  std::string text = "leakgate: ";
  if (verdict.exit_code == ExitCode::kInconclusive) {
    text += Paint("inconclusive", Emphasis::kUncertain, colour) + "; ";
  }
  text += fmt::format("{} of {}; {}", FormatCount(static_cast<std::int64_t>(runs.size()), "run"),
                      BinariesText(runs.CountBinaries()), TestsText(runs, colour));
  if (runs.failed() != 0) text += fmt::format("; {} failed", FormatCount(runs.failed(), "run"));
  if (runs.not_measured() != 0) {
    text += fmt::format("; {} inconclusive", FormatCount(runs.not_measured(), "run"));
  }
  if (runs.repeated() != 0) {
    text += fmt::format("; {} given again, counted once", FormatCount(runs.repeated(), "run"));
  }
  return text + '\n';
}

std::string WarnOnlyLine(const MergedRuns& runs) {
  if (runs.warn_only() == 0) return "";
  return fmt::format("  --warn-only: {} gate nothing, whatever they found\n",
                     FormatCount(runs.warn_only(), "run"));
}

}  // namespace

MergeVerdict VerdictOn(const MergedRuns& runs, std::optional<std::int64_t> expected) {
  MergeVerdict verdict{ExitCode::kPass, runs.MissingShards()};
  const auto count = static_cast<std::int64_t>(runs.size());
  if (count == 0) verdict.missing.emplace_back("there is no run to judge by");
  if (expected && count < *expected) {
    verdict.missing.push_back(fmt::format("{} expected (--expect), and there {}",
                                          FormatCount(*expected, "run"),
                                          count == 1 ? "is 1" : fmt::format("are {}", count)));
  }
  if (runs.failed() != 0) {
    verdict.exit_code = ExitCode::kOverBudget;
  } else if (runs.not_measured() != 0 || !verdict.missing.empty()) {
    verdict.exit_code = ExitCode::kInconclusive;
  }
  return verdict;
}

std::string MergeSummary(const MergedRuns& runs, const MergeVerdict& verdict,
                         const std::vector<Cause>& causes, const std::vector<std::string>& warnings,
                         const TextStyle& style) {
  return CauseTexts(runs, causes, style) + AnswerLine(runs, verdict, style.colour) +
         FailureLines(runs, causes, style) + Lines("over budget", runs.over_budget().Lines()) +
         Lines("failed", runs.ended_badly().Lines()) + Lines("inconclusive", verdict.missing) +
         Lines("inconclusive", runs.inconclusive().Lines()) +
         Lines("unconfirmed", runs.unconfirmed().Lines()) + Lines("flaky", runs.FlakyTests()) +
         Lines("warning", warnings) + WarnOnlyLine(runs);
}

}  // namespace leakgate
