#include "runner/merge/read_baseline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/merge/report_values.h"
#include "runner/report/json_words.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

bool IsAmong(const std::string& word, std::initializer_list<Disposition> dispositions) {
  return std::any_of(dispositions.begin(), dispositions.end(),
                     [&](Disposition disposition) { return word == Word(disposition); });
}

// Whether it can have been a reason for a window that failed, or could not be told.
bool Counts(const std::string& disposition) {
  return !IsAmong(disposition, {Disposition::kFramework, Disposition::kAllowed,
                                Disposition::kOtherThread, Disposition::kReleasedLater});
}

// Of findings that share a path the blocks are counted together.
struct PathCount {
  std::int64_t blocks = 0;
  bool counts = false;
};

void AddWindow(const Json& window, BaselineWindow& known) {
  const std::string verdict = TextOf(window, "verdict");
  const bool is_bad =
      verdict == Word(Verdict::kOverBudget) || verdict == Word(Verdict::kUnconfirmed);
  std::map<std::string, PathCount> counts;
  for (const Json& finding : ElementsOf(window, "findings")) {
    const std::string disposition = TextOf(finding, "disposition");
    const bool is_known = disposition == Word(Disposition::kKnown);
    if (IsAmong(disposition,
                {Disposition::kFramework, Disposition::kAllowed, Disposition::kOtherThread})) {
      continue;
    }
    PathCount& count = counts[SymbolicPath(StackOf(finding))];
    count.blocks += std::max<std::int64_t>(NumberOf(finding, "blocks"), 0);
    count.counts = count.counts || is_known || (is_bad && Counts(disposition));
  }
  for (const auto& [path, count] : counts) {
    if (!count.counts) continue;
    std::int64_t& most = known.blocks[path];
    most = std::max(most, count.blocks);
  }
  for (const char* key : {"violations", "known_violations"}) {
    for (const Json& violation : ElementsOf(window, key)) {
      const std::int64_t actual = NumberOf(violation, "actual");
      const auto [most, is_new] = known.excess.try_emplace(TextOf(violation, "metric"), actual);
      most->second = std::max(most->second, actual);
    }
  }
  for (const Json& error : ElementsOf(window, "free_errors")) {
    known.free_errors.insert(
        FreeErrorIdentity(TextOf(error, "text"), StackOf(MemberOf(error, "freed_at"))));
  }
}

WindowKind KindOf(const std::string& word) {
  for (const WindowKind kind : {WindowKind::kTest, WindowKind::kSuite, WindowKind::kProcess}) {
    if (word == Word(kind)) return kind;
  }
  return WindowKind::kProgram;
}

void AddRun(const Json& run, Baseline& baseline) {
  for (const Json& window : ElementsOf(run, "windows")) {
    const WindowKind kind = KindOf(TextOf(window, "kind"));
    AddWindow(window, baseline.windows[WindowIdentity(kind, TextOf(window, "name"))]);
  }
}

}  // namespace

Expected<Baseline> ReadBaseline(const std::filesystem::path& report, const OnRunReport& on_run) {
  Baseline baseline{report.string(), {}};
  const Expected<void> read = ReadRunReports(report, [&](Json&& run) {
    AddRun(run, baseline);
    if (on_run) on_run(std::move(run));
  });
  if (!read) return Unexpected(read.error());
  return baseline;
}

}  // namespace leakgate
