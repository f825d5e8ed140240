// `leakgate history add|show|trend`: what was asked for, and doing it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/app/option_list.h"
#include "runner/cli/app/option_values.h"

namespace leakgate {

// Adds results to a history; those that it has already are left alone.
struct HistoryAddCommand {
  std::filesystem::path database;
  std::vector<std::filesystem::path> results;
  std::string commit;               // empty: not known
  std::optional<std::string> time;  // ISO 8601, UTC; none: now
};

// The findings and the flaky tests of a history.
struct HistoryShowCommand {
  std::filesystem::path database;
  std::optional<std::string> component;
  std::optional<std::string> test;
  OutputForm output = OutputForm::kText;
};

enum class TrendOf { kComponent, kTest, kCallSite };

// What was outstanding over time, commit by commit.
struct HistoryTrendCommand {
  std::filesystem::path database;
  TrendOf of = TrendOf::kComponent;  // what `of_each` names
  std::vector<TrendOf> of_each;      // each flag that was given: one at most
  OutputForm output = OutputForm::kText;
};

void Declare(HistoryAddCommand& command, OptionList& options);
void Declare(HistoryShowCommand& command, OptionList& options);
void Declare(HistoryTrendCommand& command, OptionList& options);

[[nodiscard]] Expected<void> Complete(HistoryAddCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(HistoryShowCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(HistoryTrendCommand& command, const ProgramLine& program);

// An error is for the caller to print; the history is then as it was.
[[nodiscard]] Expected<int> Execute(const HistoryAddCommand& command);
[[nodiscard]] Expected<int> Execute(const HistoryShowCommand& command);
[[nodiscard]] Expected<int> Execute(const HistoryTrendCommand& command);

}  // namespace leakgate
