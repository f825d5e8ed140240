// `leakgate history add|show|trend`, and the texts that they print (history_text.cpp).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"
#include "runner/results/history.h"

namespace leakgate {

// Adds results to a history, except those that it has already.
struct HistoryAddCommand {
  std::filesystem::path database;
  std::vector<std::filesystem::path> results;
  std::string commit;               // empty: not known
  std::optional<std::string> time;  // ISO 8601, UTC; nullopt: now
};

// Shows the findings and the flaky tests of a history.
struct HistoryShowCommand {
  std::filesystem::path database;
  std::optional<std::string> component;
  std::optional<std::string> test;
  OutputForm output = OutputForm::kText;
};

enum class TrendOf { kComponent, kTest, kCallSite };

// Shows what was outstanding over time, commit by commit.
struct HistoryTrendCommand {
  std::filesystem::path database;
  TrendOf of = TrendOf::kComponent;
  std::vector<TrendOf> of_each;  // the flags that were given; Complete allows one
  OutputForm output = OutputForm::kText;
};

void Declare(HistoryAddCommand& command, OptionList& options);
void Declare(HistoryShowCommand& command, OptionList& options);
void Declare(HistoryTrendCommand& command, OptionList& options);

[[nodiscard]] Expected<void> Complete(HistoryAddCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(HistoryShowCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(HistoryTrendCommand& command, const ProgramLine& program);

// After an error, which the caller prints, the history is unchanged.
[[nodiscard]] Expected<int> Execute(const HistoryAddCommand& command);
[[nodiscard]] Expected<int> Execute(const HistoryShowCommand& command);
[[nodiscard]] Expected<int> Execute(const HistoryTrendCommand& command);

// The functions below return what the commands print, for people and for machines. They are pure.

struct HistoryView {
  std::vector<SeenFinding> findings;
  std::vector<FlakyTest> flaky;
};

[[nodiscard]] std::string HistoryText(const HistoryView& view);
[[nodiscard]] std::string HistoryJson(const HistoryView& view);
[[nodiscard]] std::string TrendText(const std::vector<TrendPoint>& points);
// `subject` is what the points are about: "component", "test" or "call_site".
[[nodiscard]] std::string TrendJson(const std::vector<TrendPoint>& points,
                                    const std::string& subject);

}  // namespace leakgate
