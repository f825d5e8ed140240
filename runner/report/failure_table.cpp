#include "runner/report/failure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runner/region/quantity_text.h"
#include "runner/report/excess.h"
#include "runner/report/window_name.h"

namespace leakgate {
namespace {

using Row = std::array<std::string, 4>;  // component, amount, budget, test

bool IsSame(const WindowResult& a, const WindowResult& b) {
  return a.kind == b.kind && a.name == b.name && a.started_by == b.started_by;
}

void Add(std::vector<RepeatedFailure>& failures, const WindowResult& window) {
  const auto known =
      std::find_if(failures.begin(), failures.end(),
                   [&](const RepeatedFailure& failure) { return IsSame(*failure.first, window); });
  if (known == failures.end()) {
    failures.push_back({.first = &window, .largest = &window, .iterations = 1});
    return;
  }
  ++known->iterations;
  if (window.outstanding.bytes > known->largest->outstanding.bytes) known->largest = &window;
}

void AddRows(std::vector<Row>& rows, const RepeatedFailure& failure) {
  const WindowResult& window = *failure.largest;
  const std::string name = PlainWindowName(window) + IterationsText(failure);
  const auto add = [&](const std::string& component, std::string amount, std::string budget) {
    rows.push_back({Printable(component.empty() ? "-" : component), std::move(amount),
                    std::move(budget), Printable(name)});
  };
  const std::int64_t count = CountNewFreeErrors(window);
  if (count != 0) {
    add(window.budget->component, FormatCount(count, "freeing error"), "never allowed");
  }
  for (const Excess& excess : Excesses(window)) {
    add(excess.component, excess.amount, excess.budget);
  }
}

std::array<std::size_t, 4> ColumnWidths(const std::vector<Row>& rows) {
  std::array<std::size_t, 4> widths = {};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Columns(row[i]));
    }
  }
  return widths;
}

}  // namespace

std::vector<RepeatedFailure> CollectFailures(const RunResult& result) {
  std::vector<RepeatedFailure> failures;
  for (const WindowResult& window : result.windows) {
    if (window.verdict == Verdict::kOverBudget) Add(failures, window);
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
  const std::array<std::size_t, 4> widths = ColumnWidths(rows);
  std::string table;
  for (const Row& row : rows) {
    table += "  " + PadRight(row[0], widths[0]) + "  " + PadRight(row[1], widths[1]) + "  " +
             PadRight(row[2], widths[2]) + "  " + row[3] + '\n';
  }
  return table;
}

std::string IterationsText(const RepeatedFailure& failure) {
  // One test may start many that are alike.
  if (failure.first->kind == WindowKind::kProcess && failure.iterations > 1) {
    return fmt::format(" in {} processes", failure.iterations);
  }
  const int first = failure.first->iteration;
  if (failure.iterations == 1) return first == 1 ? "" : fmt::format(" #{}", first);
  return fmt::format(" in {}, the first #{}", FormatCount(failure.iterations, "iteration"), first);
}

}  // namespace leakgate
