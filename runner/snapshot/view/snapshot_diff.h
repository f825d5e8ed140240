// What has changed between two snapshots.
//
// Of one process, blocks are compared one by one, in one pass over both files: a block is
// kept if both have one of the same address, size, kind, stack, window and thread. One that
// was freed and allocated again just so, in the same window, cannot be told from it.
//
// Of two processes addresses mean nothing: what each call site has is compared, by the name
// of its function and its source file; by the line, too, if both ran the same build.
//
// What the program has mapped itself is compared apart, likewise (stack_changes.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/snapshot/view/snapshot_view.h"
#include "runner/snapshot/view/stack_changes.h"

namespace leakgate {

struct SnapshotDiff {
  bool is_same_process = false;
  bool is_same_image = false;  // always, of one process; else the same file name
  bool has_lines = false;      // call sites are told apart by their lines, too
  SnapshotFacts first;
  SnapshotFacts second;
  std::vector<std::string> files;            // both
  std::vector<std::string> missing;          // what either has not recorded, with the file's name
  std::vector<std::string> module_problems;  // "MODULE: why it has no symbols"
  SnapshotChange total;
  std::vector<SiteChange> sites;  // by growth, the greatest first
  // Likewise of what the program has mapped itself: in mappings, not in blocks.
  SnapshotChange mapped;
  std::vector<SiteChange> mapped_sites;
};

struct DiffQuery {
  std::vector<std::string> filters;            // as SnapshotQuery's
  std::vector<std::filesystem::path> symbols;  // directories of files by build-id
};

// A usage error if the second was taken before the first, in one process.
[[nodiscard]] Expected<SnapshotDiff> DiffSnapshots(const std::filesystem::path& first,
                                                   const std::filesystem::path& second,
                                                   const DiffQuery& query);

}  // namespace leakgate
