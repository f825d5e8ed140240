// What an earlier run found, so that a later one fails only for what is new.
//
// A finding is the same as an earlier one if both have the same test and the same symbolic path
// (attribution/leak_identity.h). If a path has more blocks than the baseline has, all of them count
// as new, because nothing tells which of them were there before.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/judge/window_evidence.h"
#include "runner/symbols/frame.h"

namespace leakgate {

struct BaselineWindow {
  std::map<std::string, std::int64_t> blocks;  // the most of any run, by PathInBaseline
  std::map<Metric, std::int64_t> excess;       // likewise, by the metric that is over its limit
  std::set<std::string> free_errors;           // by FreeErrorIdentity

  [[nodiscard]] bool empty() const {
    return blocks.empty() && excess.empty() && free_errors.empty();
  }
  friend bool operator==(const BaselineWindow&, const BaselineWindow&) = default;
};
using BaselineWindows = std::map<std::string, BaselineWindow>;  // by WindowIdentity

// A report may be large, and a process of CTest's runs one test of it, so a window of it may be
// read only when it is asked for. Any thread may ask.
struct Baseline {
  std::string path;  // of the report, as typed
  // Returns what is known of a window, by its WindowIdentity; nullptr if nothing is. What it points
  // to lives as long as the baseline.
  std::function<const BaselineWindow*(const std::string& identity)> find;
};

// Returns the symbolic path of blocks of that kind, or the same, marked, of mappings.
[[nodiscard]] std::string PathInBaseline(AllocationKind kind, const std::vector<Frame>& stack);

// Makes a baseline that has all its windows in memory.
[[nodiscard]] Baseline MakeBaseline(std::string path, BaselineWindows windows);

// Marks each of the user's blocks, or mappings, as known or new. If `baseline` is null, because it
// does not have the window, all are new. This comes before MarkUnconfirmed, since known blocks need
// no repetition.
void MarkKnownBlocks(const BaselineWindow* baseline, CallSites& sites, WindowEvidence& evidence);

// Marks the freeing errors in the same way, and notes which metrics the baseline excuses.
void ApplyBaseline(const BaselineWindow* baseline, WindowResult& window);

}  // namespace leakgate
