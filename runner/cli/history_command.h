// `leakgate history add|show|trend`: what was asked for, and doing it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

enum class HistoryOutput { kText, kJson };

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
  HistoryOutput output = HistoryOutput::kText;
};

enum class TrendOf { kComponent, kTest, kCallSite };

// What was outstanding over time, commit by commit.
struct HistoryTrendCommand {
  std::filesystem::path database;
  TrendOf of = TrendOf::kComponent;
  HistoryOutput output = HistoryOutput::kText;
};

// An error is for the caller to print; the history is then as it was.
[[nodiscard]] Expected<int> Execute(const HistoryAddCommand& command);
[[nodiscard]] Expected<int> Execute(const HistoryShowCommand& command);
[[nodiscard]] Expected<int> Execute(const HistoryTrendCommand& command);

}  // namespace leakgate
