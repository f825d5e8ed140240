// Writes the JSON that the page of the HTML report has of a window, as text: what stands in
// report-ui/src/fields.ts, by the tables in fields.h and page_fields.h. A report has 100,000
// findings, so no JSON value is built in between.
//
//   {"kind":1,"name":"A.B","verdict":2,"outstanding":[64,1],"findings":[[64,1,3,4,1,0,1,1]]}
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runner/report/excess.h"
#include "runner/report/formats/page_fields.h"
#include "runner/report/formats/page_tables.h"
#include "runner/report/formats/source_excerpts.h"
#include "runner/report/json/json_text.h"
#include "runner/result/words.h"

namespace leakgate {

// What the rows and objects of a window need to know.
struct PageContext {
  PageTables& tables;
  SourceExcerpts& sources;
  const WindowResult& window;
};

// Returns the index of a word. The usual end of a stack, `outermost`, is 0.
template <typename Enum>
int IndexOfWord(Enum value, PageTables& tables) {
  if constexpr (std::is_same_v<Enum, UnwindEnd>) {
    if (value == UnwindEnd::kOutermost) return 0;
  }
  return tables.String(Word(value));
}

// Appends a row: the values of a finding, a top allocator or a cause, without their keys
// (VisitColumns). What is not told is 0. `user_frame` is one more than its index.
class PageRow {
 public:
  PageRow(PageTables& tables, std::string& text) : tables_(tables), text_(text) { text_ += '['; }

  template <typename T>
  void Add(std::string_view /*key*/, const T& value) {
    Separate();
    Append(value);
  }
  template <typename T>
  void AddIf(std::string_view key, const T& value, bool is_written) {
    if (is_written) return Add(key, value);
    Separate();
    text_ += '0';
  }

  // Ends the row. The page takes what is missing for 0.
  void End() {
    while (text_.ends_with(",0")) text_.resize(text_.size() - 2);
    text_ += ']';
  }

 private:
  void Separate() {
    if (std::exchange(has_values_, true)) text_ += ',';
  }

  template <typename T>
  void Append(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      AppendJsonNumber(IndexOfWord(value, tables_), text_);
    } else if constexpr (std::is_integral_v<T>) {
      AppendJsonNumber(value, text_);
    } else {
      AppendJsonNumber(tables_.String(value), text_);
    }
  }
  template <typename T>
  void Append(const std::optional<T>& index) {
    AppendJsonNumber(index ? *index + 1 : 0, text_);
  }
  template <typename T>
  void Append(const std::vector<T>& values) {
    if (values.empty()) {
      text_ += '0';
      return;
    }
    char before = '[';
    for (const T& value : values) {
      text_ += std::exchange(before, ',');
      Append(value);
    }
    text_ += ']';
  }
  void Append(const std::vector<Finding>& findings) {
    char before = '[';
    for (const Finding& finding : findings) {
      text_ += std::exchange(before, ',');
      PageRow row(tables_, text_);
      VisitColumns(row, PageFinding{finding});
      row.End();
    }
    text_ += ']';
  }
  void Append(const SharedStack& stack) { AppendJsonNumber(tables_.Stack(stack.get()), text_); }

  PageTables& tables_;
  std::string& text_;
  bool has_values_ = false;
};

// A visitor of fields that appends an object of them without what is 0 or empty. An amount becomes
// [bytes, blocks]; words and texts become indices; findings, top allocators and causes become rows.
class PageObject {
 public:
  static constexpr bool kReads = false;

  PageObject(const PageContext& context, std::string& text) : context_(context), text_(text) {
    text_ += '{';
  }

  template <typename T>
  void Required(std::string_view key, const T& value) {
    if (!IsNothing(value)) Add(key, value);
  }
  template <typename T>
  void WithDefault(std::string_view key, const T& value) {
    Required(key, value);
  }
  template <typename T>
  void WrittenIf(std::string_view key, const T& value, bool is_written) {
    if (is_written) Add(key, value);
  }
  // Only what a window has at its begin and its end is a group.
  template <typename Visit>
  void Group(std::string_view key, const Visit& visit) {
    if (!IsMeasured()) return;
    Begin(key);
    PageObject group(context_, text_);
    visit(group);
    group.End();
  }

  void End() { text_ += '}'; }

 private:
  // Reports of earlier versions have neither times nor live bytes, and a page draws what they have
  // instead. No window that was measured begins and ends at the same moment.
  [[nodiscard]] bool IsMeasured() const { return context_.window.begin != context_.window.end; }

  template <typename T>
  [[nodiscard]] bool IsNothing(const T& value) const {
    if constexpr (requires { value.empty(); }) {
      return value.empty();
    } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, Amount>) {
      return value == T{};
    } else {
      return false;
    }
  }
  template <typename T>
  [[nodiscard]] bool IsNothing(const OrNull<T>& member) const {
    return member.is_null;
  }
  template <typename T>
  [[nodiscard]] bool IsNothing(const Seconds<T>& /*member*/) const {
    return !IsMeasured();
  }

  void Begin(std::string_view key) {
    if (std::exchange(has_members_, true)) text_ += ',';
    fmt::format_to(std::back_inserter(text_), "\"{}\":", key);
  }

  template <typename T>
  void Add(std::string_view key, const T& value) {
    Begin(key);
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      if (!IsInternedOnPage(key)) return AppendJsonString(value, text_);
    }
    Append(value);
  }

  template <typename T>
  void Append(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      AppendJsonNumber(value, text_);
    } else if constexpr (std::is_enum_v<T>) {
      AppendJsonNumber(IndexOfWord(value, context_.tables), text_);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      AppendJsonNumber(context_.tables.String(value), text_);
    } else {
      PageObject members(context_, text_);
      VisitFields(members, value);
      members.End();
    }
  }
  template <typename T>
  void Append(const std::optional<T>& value) {
    Append(*value);  // it is told only if there is one
  }
  template <typename T>
  void Append(const std::vector<T>& values) {
    text_ += '[';
    bool is_first = true;
    for (const T& value : values) {
      if (!std::exchange(is_first, false)) text_ += ',';
      Append(value);
    }
    text_ += ']';
  }
  template <typename T>
  void Append(const OrNull<T>& member) {
    Append(member.value);
  }
  template <typename T>
  void Append(const Seconds<T>& member) {
    AppendJsonFraction(std::chrono::duration<double>(member.time - member.origin).count(), text_);
  }
  void Append(const Amount& amount) {
    fmt::format_to(std::back_inserter(text_), "[{},{}]", amount.bytes, amount.blocks);
  }
  void Append(const Finding& finding) {
    WantSource(finding);
    AppendRow(PageFinding{finding});
  }
  void Append(const TopAllocator& allocator) {
    WantSource(allocator.site);
    AppendRow(allocator);
  }
  void Append(const PageCause& cause) { AppendRow(cause); }
  void Append(const TopAllocators& top) { Append(PageTopAllocators{top, IsMainlyByOneSite(top)}); }

  template <typename T>
  void AppendRow(const T& value) {
    PageRow row(context_.tables, text_);
    VisitColumns(row, value);
    row.End();
  }

  [[nodiscard]] bool IsMainlyByOneSite(const TopAllocators& top) const {
    const auto& violations = context_.window.violations;
    return std::any_of(violations.begin(), violations.end(), [&](const Violation& it) {
      return IsOf(it, top.quantity) && FindMainAllocator(context_.window, it) != nullptr;
    });
  }

  void WantSource(const Finding& finding) {
    if (!finding.user_frame) return;
    const Verdict verdict = context_.window.verdict;
    const bool is_quiet = verdict == Verdict::kPass || verdict == Verdict::kNotGated;
    const Frame& frame = finding.stack[*finding.user_frame];
    context_.sources.Want(frame.file, frame.line,
                          is_quiet ? SourceRank::kThen : SourceRank::kFirst);
  }

  const PageContext& context_;
  std::string& text_;
  bool has_members_ = false;
};

}  // namespace leakgate
