// Compares two recordings by call site: what each has allocated in all, allocated only for a
// moment, left, and had at its peak.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/recording/view/recording_groups.h"
#include "runner/recording/view/recording_view.h"
#include "runner/report/style.h"
#include "runner/snapshot/view/site_sums.h"

namespace leakgate {

struct RecordingChange {
  RecordedCounts before{};
  RecordedCounts after{};

  // Returns the growth of a sum, which may be negative.
  [[nodiscard]] Amount Growth(Weigh weigh) const {
    return SumOf(after, weigh).amount() - SumOf(before, weigh).amount();
  }
};

inline RecordingChange& operator+=(RecordingChange& a, const RecordingChange& b) {
  a.before += b.before;
  a.after += b.after;
  return a;
}

struct RecordingDiff {
  bool has_lines = false;  // call sites are also distinguished by their lines: both ran one build
  bool is_same_image = false;
  struct Side {
    std::string file;
    SnapshotFacts facts;
    std::uint64_t length_ns = 0;  // of the interval
    bool is_incomplete = false;
  };
  Side first;
  Side second;
  std::vector<std::string> missing;          // "FILE: what it has not recorded"
  std::vector<std::string> module_problems;  // "MODULE: why it has no symbols"
  RecordingChange total;
  std::vector<Site<RecordingChange>> sites;  // by growth of what is weighed, the greatest first
};

// Both must have been read.
[[nodiscard]] RecordingDiff DiffRecordings(RecordingView& first, RecordingView& second,
                                           Weigh weigh);

struct RecordingDiffOptions {
  Weigh weigh = Weigh::kPeak;
  std::optional<std::size_t> top{};
};
[[nodiscard]] std::string RecordingDiffText(const RecordingDiff& diff,
                                            const RecordingDiffOptions& options,
                                            const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json RecordingDiffJson(const RecordingDiff& diff,
                                                       const RecordingDiffOptions& options);

}  // namespace leakgate
