#include "runner/results/merged_causes.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/report/window_text.h"

namespace leakgate {
namespace {

std::uint64_t HashOf(const std::string& text, std::uint64_t seed = 0) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

// Reads runs again, each once, for the causes that are worst in them.
class CausesByRun {
 public:
  Expected<Cause> Find(const std::string& key, const RunPlace& place) {
    const auto [causes, is_new] = by_run_.try_emplace(place.content);
    if (is_new) {
      LEAKGATE_TRY_ASSIGN(const RunResult run, ReadResultAt(place));
      causes->second = CollectCauses(run.windows);
    }
    const auto found = std::find_if(causes->second.begin(), causes->second.end(),
                                    [&](const Cause& cause) { return cause.key == key; });
    if (found == causes->second.end()) {
      return Unexpected(Error{PathText(place.file) + ": changed while it was read; merge again"});
    }
    Cause cause = *found;
    cause.whole = nullptr;  // the run is gone
    cause.windows.clear();
    return cause;
  }

 private:
  std::map<RunContent, std::vector<Cause>> by_run_;
};

}  // namespace

void MergedCauses::Add(const RunResult& run, const RunPlace& place) {
  const std::uint64_t binary = HashOf(run.binary);
  for (Cause& cause : CollectCauses(run.windows)) {
    Total& total = totals_[cause.key];
    for (const WindowResult* const window : cause.windows) {
      const std::string name = PlainWindowName(*window);
      if (!total.windows.insert(HashOf(name, binary)).second) continue;
      total.first_names.insert(name);
      if (total.first_names.size() > Cause::kNamed) {
        total.first_names.erase(std::prev(total.first_names.end()));
      }
    }
    const std::int64_t bytes = cause.worst_amount.bytes;
    const bool is_worse = bytes > total.worst_bytes ||
                          (bytes == total.worst_bytes && place.content < total.worst.content);
    if (is_worse) {
      total.worst_bytes = bytes;
      total.worst = place;
    }
    AddTotals(cause, total.cause);
  }
}

Expected<std::vector<Cause>> MergedCauses::Largest(std::size_t most) const {
  std::vector<const std::pair<const std::string, Total>*> sorted;
  for (const auto& entry : totals_) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return a->second.cause.amount.bytes > b->second.cause.amount.bytes;
  });
  sorted.resize(std::min(sorted.size(), most));
  CausesByRun by_run;
  std::vector<Cause> causes;
  for (const auto* const entry : sorted) {
    LEAKGATE_TRY_ASSIGN(Cause cause, by_run.Find(entry->first, entry->second.worst));
    const Total& total = entry->second;
    cause.amount = total.cause.amount;
    cause.violations = total.cause.violations;
    cause.are_tests = total.cause.are_tests;
    cause.count = static_cast<std::int64_t>(total.windows.size());
    cause.first_names.assign(total.first_names.begin(), total.first_names.end());
    causes.push_back(std::move(cause));
  }
  return causes;
}

}  // namespace leakgate
