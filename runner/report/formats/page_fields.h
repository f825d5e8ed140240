// What the page of the HTML report has besides the keys of the JSON report (fields.h), and the
// order of the values in its rows. page_object.h writes the page's data by these tables, and
// tests/html_report/page_fields.cpp makes report-ui/src/fields.ts of them, which the page reads it
// by. So each key is spelled once.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/report/causes.h"
#include "runner/report/finding_text.h"
#include "runner/report/json/fields.h"
#include "runner/result/run_result.h"

namespace leakgate {

// Of a finding: its growth in words.
struct PageFinding {
  const Finding& finding;
};
struct PageTopAllocators {
  const TopAllocators& top;
  bool is_main = false;  // the first site made most of what exceeds the limit
};
// What of a window belongs to one cause, as indices of its findings and so on.
struct PageCause {
  std::size_t number = 0;  // of the cause, in the whole report
  WindowCause parts{};
};
struct PageWindow {
  const WindowResult& window;
  std::chrono::nanoseconds run_begin{};
  std::vector<PageCause> causes{};
};

// Returns the place of each entry, followed by its JSON.
[[nodiscard]] inline std::vector<std::string> RemedyTexts(const std::vector<BudgetEntry>& entries) {
  std::vector<std::string> texts;
  for (const BudgetEntry& entry : entries) texts.insert(texts.end(), {entry.place, entry.json});
  return texts;
}

// Returns "retained, grows by 1 block each time"; an empty text for what does not grow.
[[nodiscard]] inline std::string GrowthWords(const Finding& finding) {
  if (finding.disposition != Disposition::kSteady) return "";
  Finding told;
  told.kind = finding.kind;
  told.reach = finding.reach;
  told.disposition = finding.disposition;
  told.series = finding.series;
  told.series_bytes = finding.series_bytes;
  return FateText(told);
}

// The page shows the bytes of a series only where they grow and the blocks do not.
template <typename Visitor>
void VisitFields(Visitor& fields, const PageFinding& page) {
  if (page.finding.series_bytes.empty() || GrowsInBytesAlone(page.finding)) {
    VisitFields(fields, page.finding);
  } else {
    Finding shown = page.finding;
    shown.series_bytes.clear();
    VisitFields(fields, std::as_const(shown));
  }
  const std::string growth = GrowthWords(page.finding);
  fields.WrittenIf("growth", growth, !growth.empty());
}

template <typename Visitor>
void VisitFields(Visitor& fields, const PageTopAllocators& page) {
  VisitFields(fields, page.top);
  fields.WrittenIf("is_main", page.is_main, page.is_main);
}

template <typename Visitor>
void VisitFields(Visitor& fields, const PageCause& cause) {
  fields.Required("number", cause.number);
  fields.Required("findings", cause.parts.findings);
  fields.Required("mappings", cause.parts.mappings);
  fields.Required("free_errors", cause.parts.free_errors);
  fields.Required("violations", cause.parts.violations);
  const std::vector<std::string> remedy = RemedyTexts(cause.parts.entries);
  fields.WrittenIf("remedy", remedy, !remedy.empty());
  fields.WrittenIf("is_led", cause.parts.is_led_from_other, cause.parts.is_led_from_other);
}

template <typename Visitor>
void VisitFields(Visitor& fields, const PageWindow& page) {
  VisitFields(fields, page.window, page.run_begin);
  fields.WrittenIf("causes", page.causes, !page.causes.empty());
  const Verdict verdict = page.window.verdict;
  const bool has_remedy = verdict == Verdict::kOverBudget || verdict == Verdict::kUnconfirmed;
  const std::vector<std::string> remedy =
      has_remedy ? RemedyTexts(EntriesFor(page.window)) : std::vector<std::string>();
  fields.WrittenIf("remedy", remedy, !remedy.empty());
}

// The names of windows are texts, since hardly two are the same. All other texts are indices.
[[nodiscard]] constexpr bool IsInternedOnPage(std::string_view key) { return key != "name"; }

// A visitor that passes on either the fields that every value has, or those that only some have.
template <typename Row>
class ColumnsOfRow {
 public:
  static constexpr bool kReads = false;
  enum class Which { kOfEveryRow, kOfSomeRows };

  ColumnsOfRow(Row& row, Which which) : row_(row), which_(which) {}

  template <typename T>
  void Required(std::string_view key, const T& value) {
    if (which_ == Which::kOfEveryRow) row_.Add(key, value);
  }
  template <typename T>
  void WithDefault(std::string_view key, const T& value) {
    Required(key, value);
  }
  template <typename T>
  void WrittenIf(std::string_view key, const T& value, bool is_written) {
    if (which_ == Which::kOfSomeRows) row_.AddIf(key, value, is_written);
  }

 private:
  Row& row_;
  const Which which_;
};

// Calls `row` with the fields of a value in the order of their columns: `Add` with those that every
// row has, and then `AddIf` with those that only some rows have. Most of these are 0, and zeros at
// the end of a row are left out.
template <typename Row, typename Value>
void VisitColumns(Row& row, const Value& value) {
  using Columns = ColumnsOfRow<Row>;
  Columns of_every_row(row, Columns::Which::kOfEveryRow);
  VisitFields(of_every_row, value);
  Columns of_some_rows(row, Columns::Which::kOfSomeRows);
  VisitFields(of_some_rows, value);
}

}  // namespace leakgate
