#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <vector>

#include "runner/attribution/leak_identity.h"
#include "runner/region/amount.h"
#include "runner/report/excess.h"
#include "runner/report/summary_text.h"
#include "runner/report/window_text.h"

namespace leakgate {
namespace {

constexpr std::size_t kFewTests = 20;  // whose times a person sees at a glance
constexpr std::size_t kMostThatStandOut = 3;
constexpr std::size_t kMostListed = 10;
constexpr std::int64_t kShortNanoseconds = 50'000;
constexpr std::int64_t kLongNanoseconds = 1'000'000'000;
constexpr std::int64_t kMuchMemory = 16 << 20;
constexpr std::int64_t kTimesTheUsual = 10;

struct Cost {
  const WindowResult* test;
  std::int64_t amount;  // nanoseconds, or bytes
};
using Costs = std::vector<Cost>;  // the highest first; equals in the order of the run

// Returns 0 for times that would be shown as 0.0 ms.
std::int64_t TimeOf(const WindowResult& test) {
  const std::int64_t time = (test.end - test.begin).count();
  return time < kShortNanoseconds ? 0 : time;
}

// Returns how much the test added at its peak to what was live when it began.
std::int64_t PeakOf(const WindowResult& test) {
  return std::max<std::int64_t>(0, test.peak_live_bytes - test.live_bytes_at_begin);
}

Costs CostsOf(const RunResult& result, std::int64_t (*cost)(const WindowResult&)) {
  Costs costs;
  for (const WindowResult& window : result.windows) {
    if (window.kind == WindowKind::kTest) costs.push_back({&window, cost(window)});
  }
  std::stable_sort(costs.begin(), costs.end(),
                   [](const Cost& a, const Cost& b) { return a.amount > b.amount; });
  return costs;
}

std::int64_t Total(Costs::const_iterator begin, Costs::const_iterator end) {
  return std::accumulate(begin, end, std::int64_t{0},
                         [](std::int64_t sum, const Cost& cost) { return sum + cost.amount; });
}

std::string TimeText(std::int64_t nanoseconds) {
  return FormatDuration(std::chrono::nanoseconds(nanoseconds));
}

// Returns "A.B 41.2 s, C.D 12.1 s".
std::string List(const Costs& costs, std::size_t most, std::string (*text)(std::int64_t)) {
  std::vector<std::string> parts;
  for (const Cost& cost : costs) {
    if (parts.size() == most || cost.amount == 0) break;
    parts.push_back(fmt::format("{} {}", WindowName(*cost.test), text(cost.amount)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Titled(std::string_view title, const std::string& list, std::string_view unit = "") {
  return list.empty() ? "" : fmt::format("{}: {}{}", title, list, unit);
}

constexpr std::string_view kAtPeak = " at its peak";

using Row = std::array<std::string, 4>;       // component, amount, budget, test
using CauseRow = std::array<std::string, 5>;  // component, amount, budget, tests, call site

// Processes of one name may leave different things, each of which is told.
std::string PathOfLargest(const WindowResult& window) {
  const auto largest =
      std::find_if(window.findings.begin(), window.findings.end(), [](const Finding& finding) {
        return IsUsers(finding) && finding.disposition == Disposition::kOutstanding;
      });
  return largest == window.findings.end() ? "" : SymbolicPath(largest->stack);
}

// Equal for windows that are one failure.
using FailureKey = std::tuple<WindowKind, std::string_view, std::string_view, std::string>;
FailureKey KeyOf(const WindowResult& window) {
  const bool is_process = window.kind == WindowKind::kProcess;
  return {window.kind, window.name, window.started_by, is_process ? PathOfLargest(window) : ""};
}

void AddRows(std::vector<Row>& rows, const RepeatedFailure& failure) {
  const WindowResult& window = *failure.largest;
  const std::string name = PlainWindowName(window) + IterationsText(failure);
  const auto add = [&](const std::string& component, std::string amount, std::string budget) {
    rows.push_back({Printable(component), std::move(amount), std::move(budget), Printable(name)});
  };
  const std::int64_t count = CountNewFreeErrors(window);
  if (count != 0) {
    add(window.budget->component, FormatCount(count, "freeing error"), "never allowed");
  }
  for (const Excess& excess : Excesses(window)) {
    add(excess.component, excess.amount, excess.budget);
  }
}

// Aligns all columns but the last. Those of which no row has anything are left out.
template <std::size_t kColumns>
std::string TableText(const std::vector<std::array<std::string, kColumns>>& rows) {
  std::array<std::size_t, kColumns> widths = {};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  std::string table;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < kColumns; ++i) {
      if (widths[i] != 0) table += "  " + PadRight(row[i].empty() ? "-" : row[i], widths[i]);
    }
    table += "  " + row.back() + '\n';
  }
  return table;
}

}  // namespace

std::string SlowestThatStandOut(const RunResult& result) {
  Costs costs = CostsOf(result, TimeOf);
  if (costs.size() <= kFewTests) return "";
  const std::int64_t all = Total(costs.begin(), costs.end());
  costs.resize(kMostThatStandOut);
  const std::int64_t first = Total(costs.begin(), costs.end());
  if (first < kLongNanoseconds || 2 * first < all) return "";
  // Only as many are shown as make up half of the time.
  while (costs.size() > 1 && 2 * (Total(costs.begin(), costs.end()) - costs.back().amount) >= all) {
    costs.pop_back();
  }
  const std::int64_t shown = Total(costs.begin(), costs.end());
  return Titled("slowest", List(costs, kMostThatStandOut, TimeText),
                fmt::format(" ({} % of all tests' time)", 100 * shown / all));
}

std::string HeaviestThatStandOut(const RunResult& result) {
  Costs costs = CostsOf(result, PeakOf);
  if (costs.size() <= kFewTests) return "";
  const std::int64_t usual = costs[costs.size() / 2].amount;
  std::erase_if(costs, [usual](const Cost& cost) {
    return cost.amount < kMuchMemory || cost.amount < kTimesTheUsual * usual;
  });
  return Titled("heaviest", List(costs, kMostThatStandOut, FormatBytes), kAtPeak);
}

std::string Slowest(const RunResult& result) {
  return Titled("slowest", List(CostsOf(result, TimeOf), kMostListed, TimeText));
}

std::string Heaviest(const RunResult& result) {
  return Titled("heaviest", List(CostsOf(result, PeakOf), kMostListed, FormatBytes), kAtPeak);
}

std::vector<RepeatedFailure> CollectFailures(const RunResult& result) {
  std::vector<RepeatedFailure> failures;
  std::map<FailureKey, std::size_t> known;
  for (const WindowResult& window : result.windows) {
    if (window.verdict != Verdict::kOverBudget) continue;
    const auto [at, is_new] = known.try_emplace(KeyOf(window), failures.size());
    if (is_new) failures.push_back({.first = &window, .largest = &window});
    RepeatedFailure& failure = failures[at->second];
    ++failure.iterations;
    if (window.outstanding.bytes > failure.largest->outstanding.bytes) failure.largest = &window;
  }
  return failures;
}

std::string FailureTable(std::vector<RepeatedFailure> failures) {
  std::stable_sort(failures.begin(), failures.end(),
                   [](const RepeatedFailure& a, const RepeatedFailure& b) {
                     return a.first->budget->component < b.first->budget->component;
                   });
  std::vector<Row> rows;
  for (const RepeatedFailure& failure : failures) AddRows(rows, failure);
  return TableText(rows);
}

std::string CauseTable(const std::vector<Cause>& causes, const std::string& base_directory,
                       std::size_t count, std::string_view where_all_are) {
  std::vector<CauseRow> rows;
  const std::vector<std::string> sites = SiteTexts(causes, base_directory);
  for (const Cause& cause : causes) {
    const WindowResult window = InAllWindows(cause);
    std::string component = window.budget->component;
    std::vector<std::string> amounts;
    std::string budget = "never allowed";
    if (CountNewFreeErrors(window) != 0) amounts.push_back(window.free_errors.front().text);
    for (const Excess& excess : Excesses(window)) {
      component = excess.component;
      amounts.push_back(excess.amount);
      budget = excess.budget;
    }
    rows.push_back({Printable(component), Printable(fmt::format("{}", fmt::join(amounts, ", "))),
                    Printable(budget), WindowCountText(cause), Printable(sites[rows.size()])});
  }
  std::string table = TableText(rows);
  if (count > causes.size()) {
    const auto more = static_cast<std::int64_t>(count - causes.size());
    table += fmt::format("  and {}; {}\n", FormatCount(more, "more cause"), where_all_are);
  }
  return table;
}

std::string IterationsText(const RepeatedFailure& failure) {
  // One test may start many processes that fail in the same way.
  if (failure.first->kind == WindowKind::kProcess && failure.iterations > 1) {
    return fmt::format(" in {} processes", failure.iterations);
  }
  const int first = failure.first->iteration;
  if (failure.iterations == 1) return first == 1 ? "" : fmt::format(" #{}", first);
  return fmt::format(" in {}, the first #{}", FormatCount(failure.iterations, "iteration"), first);
}

}  // namespace leakgate
