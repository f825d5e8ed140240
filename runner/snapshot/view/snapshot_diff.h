// Finds and shows what has changed between two snapshots.
//
// If they are of one process, blocks are compared one by one, in one pass over both files: a
// block is kept if both have it with the same address, size, kind, stack, window and thread. A
// block that was freed and allocated again in exactly this way counts as kept.
//
// If they are of two processes, addresses mean nothing, and call sites are compared: by function
// and source file, and by line if both executed the same build.
//
// What the program has mapped itself is compared separately (stack_changes.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/report/style.h"
#include "runner/snapshot/view/snapshot_view.h"
#include "runner/snapshot/view/stack_changes.h"

namespace leakgate {

struct SnapshotDiff {
  bool is_same_process = false;
  // Always true for one process; otherwise, whether the file names are equal.
  bool is_same_image = false;
  bool has_lines = false;  // call sites are also distinguished by their lines
  SnapshotFacts first;
  SnapshotFacts second;
  std::vector<std::string> files;            // both
  std::vector<std::string> missing;          // "FILE: what it has not recorded"
  std::vector<std::string> module_problems;  // "MODULE: why it has no symbols"
  SnapshotChange total;
  std::vector<SiteChange> sites;  // by growth, the greatest first
  // The mappings that the program has made itself: amounts count mappings instead of blocks.
  SnapshotChange mapped;
  std::vector<SiteChange> mapped_sites;
  // What was allocated and freed in between, for one process that counts allocations by stack.
  bool has_churn = false;
  Churn churn;
  std::vector<SiteChurn> churn_sites;
  // "FILE: why it is not known how much of that was in memory"
  std::vector<std::string> pages_problems;
};

struct DiffQuery {
  std::vector<std::string> filters{};  // as those of StackQuery
  std::vector<std::string> without{};
  std::vector<std::filesystem::path> symbols{};  // directories of files by build-id
};

// A call stack of either snapshot. With two processes, the same stack may occur once for each.
struct ChangedStack {
  StackFrames* frames = nullptr;
  std::uint32_t stack = 0;
  SnapshotChange change{};
};

// The stacks behind a comparison. They are valid during the call to which they are passed.
struct ChangedStacks {
  std::vector<ChangedStack> blocks{};
  std::vector<ChangedStack> mappings{};
  Lines lines = Lines::kTellApart;
};
using UseStacks = std::function<void(const SnapshotDiff& diff, const ChangedStacks& stacks)>;

// Calls `use_stacks`, if it is set, once all is known except why modules have no symbols. Returns a
// usage error if both are of one process and the second was taken before the first.
[[nodiscard]] Expected<SnapshotDiff> DiffSnapshots(const std::filesystem::path& first,
                                                   const std::filesystem::path& second,
                                                   const DiffQuery& query,
                                                   const UseStacks& use_stacks = {});

// Returns how the two are compared: "one process, 2.31 s apart: blocks are compared one by one".
[[nodiscard]] std::string HowCompared(const SnapshotDiff& diff);

// `top` limits how many sites that have grown are shown, and how many that have shrunk. This also
// holds for mappings.
[[nodiscard]] std::string DiffText(const SnapshotDiff& diff, std::optional<std::size_t> top,
                                   const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json DiffJson(const SnapshotDiff& diff,
                                              std::optional<std::size_t> top);

using ChangedSites = std::vector<const SiteChange*>;

// The sites of a comparison in the order in which both functions show them.
struct DiffParts {
  ChangedSites grown;     // the greatest growth first
  ChangedSites shrunk;    // the greatest loss first
  ChangedSites touched;   // of mappings: the same amount, but more or less of it is in memory
  ChangedSites replaced;  // the same amount, but other blocks
};

// REQUIRES: `sites` are sorted by growth, the greatest first.
[[nodiscard]] inline DiffParts PartsOf(const std::vector<SiteChange>& sites) {
  const auto growth_of = [](const SnapshotChange& change) { return change.Growth(); };
  SiteParts<SnapshotChange> by_growth = PartsBy(sites, growth_of);
  DiffParts parts{std::move(by_growth.grown), std::move(by_growth.shrunk), {}, {}};
  for (const SiteChange* const site : by_growth.same) {
    (site->sums.ResidentGrowth() != 0 ? parts.touched : parts.replaced).push_back(site);
  }
  std::stable_sort(parts.touched.begin(), parts.touched.end(),
                   [](const SiteChange* a, const SiteChange* b) {
                     return a->sums.ResidentGrowth() > b->sums.ResidentGrowth();
                   });
  return parts;
}

}  // namespace leakgate
