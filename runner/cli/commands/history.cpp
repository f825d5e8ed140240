#include "runner/cli/commands/history.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "runner/base/path_text.h"
#include "runner/cli/terminal.h"
#include "runner/results/find_results.h"
#include "runner/results/history.h"
#include "runner/results/result_file.h"

namespace leakgate {
namespace {

std::string Now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

// Times are compared as texts, so they have one form.
Expected<std::string> ParseTime(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  bool is_good = text.size() == kForm.size();
  for (std::size_t i = 0; is_good && i < kForm.size(); ++i) {
    is_good = kForm[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == kForm[i];
  }
  if (is_good) return text;
  return UsageError(fmt::format(
      "--time '{}': not a time; write it in UTC, for example --time 2026-01-31T12:00:00Z", text));
}

// The runs that a history gets, and how many it had.
struct AddedRuns {
  std::int64_t runs = 0;
  std::int64_t known = 0;
};

Expected<void> AddRun(const RunResult& run, const RunContent& content,
                      const HistoryOccasion& occasion, History& history, AddedRuns& added) {
  LEAKGATE_TRY_ASSIGN(const bool is_new,
                      history.Add(ToHistoryRun(run, DigestOf(content)), occasion));
  ++(is_new ? added.runs : added.known);
  return {};
}

Expected<void> AddFile(const std::filesystem::path& file, const HistoryOccasion& occasion,
                       History& history, AddedRuns& added) {
  Expected<void> outcome;
  const Expected<void> read = ReadResults(file, [&](RunResult&& run, const RunPlace& place) {
    if (outcome) outcome = AddRun(run, place.content, occasion, history, added);
  });
  return read ? outcome : read;
}

const char* WordOf(TrendOf of) {
  switch (of) {
    case TrendOf::kComponent:
      return "component";
    case TrendOf::kTest:
      return "test";
    case TrendOf::kCallSite:
      break;
  }
  return "call_site";
}

TrendSubject SubjectOf(TrendOf of) {
  switch (of) {
    case TrendOf::kComponent:
      return TrendSubject::kComponent;
    case TrendOf::kTest:
      return TrendSubject::kTest;
    case TrendOf::kCallSite:
      break;
  }
  return TrendSubject::kCallSite;
}

template <typename HistoryCommand>
void AddDatabase(HistoryCommand& command, OptionList& options) {
  options.AddArgument("database", FileWord("DB"), command.database);
}

Expected<void> RequireDatabase(const std::filesystem::path& database) {
  if (!database.empty()) return {};
  return UsageError("no history; name its file: leakgate history show leaks.sqlite");
}

}  // namespace

void Declare(HistoryAddCommand& command, OptionList& options) {
  AddDatabase(command, options);
  options.AddArgument("results", FileWord("RESULT"), command.results);
  options.Add("--commit", TextWord("SHA"), command.commit, "What was tested. Default: not known");
  options.Add("--time", TextWord("TIME"), command.time,
              "When, as 2026-01-31T12:00:00Z. Default: now");
}

void Declare(HistoryShowCommand& command, OptionList& options) {
  AddDatabase(command, options);
  options.Add("--component", TextWord("NAME"), command.component,
              "Only findings of this component");
  options.Add("--test", TextWord("NAME"), command.test, "Only those of this test");
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
}

void Declare(HistoryTrendCommand& command, OptionList& options) {
  AddDatabase(command, options);
  options.AddFlag("--component", command.of_each, TrendOf::kComponent, "By component (default)");
  options.AddFlag("--test", command.of_each, TrendOf::kTest, "By test");
  options.AddFlag("--call-site", command.of_each, TrendOf::kCallSite, "By call site");
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
}

Expected<void> Complete(HistoryAddCommand& command, const ProgramLine&) {
  if (Expected<void> has = RequireDatabase(command.database); !has) return has;
  if (!command.results.empty()) return {};
  return UsageError("no results to add; name them: leakgate history add leaks.sqlite RESULTS");
}

Expected<void> Complete(HistoryShowCommand& command, const ProgramLine&) {
  return RequireDatabase(command.database);
}

Expected<void> Complete(HistoryTrendCommand& command, const ProgramLine&) {
  if (Expected<void> has = RequireDatabase(command.database); !has) return has;
  if (command.of_each.size() > 1) {
    return UsageError("--component, --test and --call-site exclude each other; leave two out");
  }
  if (!command.of_each.empty()) command.of = command.of_each.front();
  return {};
}

Expected<int> Execute(const HistoryAddCommand& command) {
  LEAKGATE_TRY_ASSIGN(const std::string time, command.time ? ParseTime(*command.time) : Now());
  LEAKGATE_TRY_ASSIGN(const FoundResults found, FindResults(command.results, {}));
  LEAKGATE_TRY_ASSIGN(History history, History::Open(command.database, Database::Mode::kWrite));
  LEAKGATE_TRY(history.Begin());
  AddedRuns added;
  for (const std::filesystem::path& file : found.files) {
    LEAKGATE_TRY(AddFile(file, {command.commit, time}, history, added));
  }
  LEAKGATE_TRY(history.Commit());
  for (const std::string& warning : found.warnings) {
    PrintMessage(fmt::format("warning: {}", warning));
  }
  PrintMessage(fmt::format("runs added to {}: {}; there already: {}", PathText(command.database),
                           added.runs, added.known));
  return kExitPass;
}

Expected<int> Execute(const HistoryShowCommand& command) {
  LEAKGATE_TRY_ASSIGN(const History history,
                      History::Open(command.database, Database::Mode::kRead));
  LEAKGATE_TRY_ASSIGN(auto findings, history.Findings(command.component, command.test));
  LEAKGATE_TRY_ASSIGN(auto flaky, history.FlakyTests(command.component, command.test));
  const HistoryView view{std::move(findings), std::move(flaky)};
  Print(stdout, command.output == OutputForm::kJson ? HistoryJson(view) : HistoryText(view));
  return kExitPass;
}

Expected<int> Execute(const HistoryTrendCommand& command) {
  LEAKGATE_TRY_ASSIGN(const History history,
                      History::Open(command.database, Database::Mode::kRead));
  LEAKGATE_TRY_ASSIGN(const auto points, history.Trend(SubjectOf(command.of)));
  Print(stdout, command.output == OutputForm::kJson ? TrendJson(points, WordOf(command.of))
                                                    : TrendText(points));
  return kExitPass;
}

}  // namespace leakgate
