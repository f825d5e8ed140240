#include "runner/results/merged_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "runner/report/window_text.h"
#include "runner/result/gtest_flags.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostNamesTold = 3;
constexpr std::size_t kMostLines = 100;
constexpr std::size_t kMostFailures = 10;  // of more, causes are listed

// These are sorted from bad to good: the first that a test has is its verdict.
constexpr std::array kVerdicts = {Verdict::kOverBudget, Verdict::kInconclusive,
                                  Verdict::kUnconfirmed, Verdict::kPass, Verdict::kNotGated};

std::uint8_t BitOf(Verdict verdict) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(verdict));
}

constexpr std::uint8_t kSkippedBit = 0x80;

Verdict WorstOf(std::uint8_t verdicts) {
  const auto* const worst = std::find_if(kVerdicts.begin(), kVerdicts.end(), [&](Verdict verdict) {
    return (verdicts & BitOf(verdict)) != 0;
  });
  return worst == kVerdicts.end() ? Verdict::kInconclusive : *worst;
}

// Returns true if verdicts contradict each other. An inconclusive one contradicts none.
bool IsFlaky(std::uint8_t verdicts) {
  const auto has = [&](Verdict verdict) { return (verdicts & BitOf(verdict)) != 0; };
  return has(Verdict::kOverBudget) + has(Verdict::kUnconfirmed) + has(Verdict::kPass) > 1;
}

std::string FlakyText(const std::string& binary, const std::string& test, std::uint8_t verdicts) {
  std::vector<std::string_view> words;
  for (const Verdict verdict : {Verdict::kPass, Verdict::kUnconfirmed, Verdict::kOverBudget}) {
    if ((verdicts & BitOf(verdict)) != 0) words.push_back(VerdictWords(verdict));
  }
  return fmt::format("{} ({}): {} in different runs", test, binary, fmt::join(words, ", "));
}

std::string Name(const RunResult& run) {
  if (!run.shard || run.shard->total == 1) return run.binary;
  return fmt::format("{}, shard {} of {}", run.binary, run.shard->index + 1, run.shard->total);
}

// Lists the numbers up to `total` that `seen` lacks, which counts from 0: "1", "1, 3", "2 to 7".
std::string MissingNumbers(const std::set<int>& seen, int total) {
  std::vector<std::string> parts;
  int next = 0;
  const auto add_until = [&](int end) {
    if (next + 1 == end) parts.push_back(std::to_string(end));
    if (next + 1 < end) parts.push_back(fmt::format("{} to {}", next + 1, end));
  };
  for (const int index : seen) {
    add_until(index);
    next = index + 1;
  }
  add_until(total);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void CountedLines::Add(const std::string& text, const std::string& where) {
  if (where_.size() >= kMostLines && !where_.contains(text)) {
    ++left_out_;
    return;
  }
  Where& known = where_[text];
  ++known.count;
  known.first.insert(where);
  if (known.first.size() > kMostNamesTold) known.first.erase(std::prev(known.first.end()));
}

std::vector<std::string> CountedLines::Lines() const {
  std::vector<std::string> lines;
  for (const auto& [text, where] : where_) {
    const auto named = static_cast<std::int64_t>(where.first.size());
    std::string line = fmt::format("{} ({}", text, fmt::join(where.first, "; "));
    if (where.count > named) line += fmt::format(" and {} more", where.count - named);
    lines.push_back(line + ')');
  }
  if (left_out_ != 0) lines.push_back(fmt::format("{} more, which the runs name", left_out_));
  return lines;
}

void MergedRuns::Add(RunResult&& run, const RunPlace& place) {
  if (runs_.contains(place.content)) {
    ++repeated_;
    return;
  }
  causes_.Add(run, place);
  // Some of the windows are kept, and their findings would take much memory.
  for (WindowResult& window : run.windows) window.findings = window.mappings = {};
  binaries_.insert(run.binary);
  const std::string where = Name(run);
  AddVerdict(run, where);
  AddTests(run);
  if (run.shard && run.shard->total > 1) {
    shards_[{run.binary, SelectionIn(run.arguments), run.shard->total}].insert(run.shard->index);
  }
  runs_.emplace(place.content,
                MergedRun{std::move(run.binary), std::move(run.arguments), run.shard, place});
}

void MergedRuns::AddVerdict(const RunResult& run, const std::string& where) {
  constexpr int kInconclusiveCode = static_cast<int>(ExitCode::kInconclusive);
  const bool is_gated = run.mode != GateMode::kWarnOnly;
  if (!is_gated) ++warn_only_;
  const int program = run.program.ShellCode();
  if (program != 0) ended_badly_.Add("the program " + ProgramExitText(run.program), where);
  const bool was_stopped = run.exit_code == kInconclusiveCode && program != kInconclusiveCode;
  if ((is_gated && run.verdict == Verdict::kOverBudget) || (run.exit_code != 0 && !was_stopped)) {
    ++failed_;
  } else if (was_stopped || (is_gated && run.verdict == Verdict::kInconclusive)) {
    ++not_measured_;
  }
  for (const std::string& reason : run.reasons) inconclusive_.Add(reason, where);
  for (const std::string& failure : run.failures) over_budget_.Add(failure, where);
}

void MergedRuns::AddTests(const RunResult& run) {
  std::map<std::string_view, std::uint8_t> tests;  // one run may repeat them
  const std::set<std::string_view> told(run.reasons.begin(), run.reasons.end());
  for (const WindowResult& window : run.windows) {
    if (window.kind == WindowKind::kTest) {
      tests[window.name] |= WasSkipped(window) ? kSkippedBit : BitOf(window.verdict);
    }
    if (window.verdict == Verdict::kOverBudget) AddFailure(run, window);
    // A reason of the whole run is told once, with the run.
    if (window.reason.empty() || told.contains(window.reason)) continue;
    const std::string where = fmt::format("{}: {}", Name(run), window.name);
    if (window.verdict == Verdict::kInconclusive) inconclusive_.Add(window.reason, where);
    if (window.verdict == Verdict::kUnconfirmed) unconfirmed_.Add(window.reason, where);
  }
  const std::uint64_t seed = XXH3_64bits(run.binary.data(), run.binary.size());
  for (const auto& [test, verdicts] : tests) {
    std::uint8_t& all = tests_[XXH3_64bits_withSeed(test.data(), test.size(), seed)].verdicts;
    all |= verdicts == kSkippedBit ? kSkippedBit : BitOf(WorstOf(verdicts));
    if (!IsFlaky(all)) continue;
    const std::pair key(run.binary, std::string(test));
    flaky_[key] = all;
    if (flaky_.size() <= kMostLines) continue;
    flaky_.erase(std::prev(flaky_.end()));
    ++flaky_left_out_;
  }
}

void MergedRuns::AddFailure(const RunResult& run, const WindowResult& window) {
  const FailureKey key(window.budget->component, run.binary, window.name);
  MergedFailure& failure = failures_[key];
  if (failure.runs++ == 0 || window.outstanding.bytes > failure.window.outstanding.bytes) {
    failure.window = window;
  }
  if (failures_.size() <= kMostFailures) return;
  failures_.erase(std::prev(failures_.end()));
  ++failures_left_out_;
}

std::vector<const MergedRun*> MergedRuns::Sorted() const {
  std::vector<const MergedRun*> sorted;
  for (const auto& [content, run] : runs_) sorted.push_back(&run);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const MergedRun* a, const MergedRun* b) {
    if (a->binary != b->binary) return a->binary < b->binary;
    if (a->arguments != b->arguments) return a->arguments < b->arguments;
    const Shard x = a->shard.value_or(Shard{0, 0});
    const Shard y = b->shard.value_or(Shard{0, 0});
    return std::tie(x.total, x.index, a->place.content) <
           std::tie(y.total, y.index, b->place.content);
  });
  return sorted;
}

std::map<Verdict, std::int64_t> MergedRuns::CountTests() const {
  std::map<Verdict, std::int64_t> counts;
  for (const auto& [key, state] : tests_) {
    if (state.verdicts != kSkippedBit) ++counts[WorstOf(state.verdicts)];
  }
  return counts;
}

std::int64_t MergedRuns::CountSkippedTests() const {
  return std::count_if(tests_.begin(), tests_.end(),
                       [](const auto& test) { return test.second.verdicts == kSkippedBit; });
}

std::vector<std::string> MergedRuns::MissingShards() const {
  std::vector<std::string> lines;
  for (const auto& [key, seen] : shards_) {
    const auto& [binary, selection, total] = key;
    const auto missing_count = static_cast<std::size_t>(total) - seen.size();
    if (missing_count == 0) continue;
    const std::string chosen =
        selection.empty() ? "" : fmt::format(" {}", fmt::join(selection, " "));
    lines.push_back(fmt::format("of the {} shards of {}{}, no result of {}", total, binary, chosen,
                                MissingNumbers(seen, total)));
  }
  return lines;
}

std::vector<std::string> MergedRuns::FlakyTests() const {
  std::vector<std::string> lines;
  for (const auto& [key, verdicts] : flaky_) {
    lines.push_back(FlakyText(key.first, key.second, verdicts));
  }
  if (flaky_left_out_ != 0) lines.emplace_back("and more tests");
  return lines;
}

}  // namespace leakgate
