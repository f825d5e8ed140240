// Writes a snapshot in formats of other tools, and as a page for a browser. The profiles (folded,
// pprof, speedscope) have the amount of each stack, as profiles of reports do. heaptrack's format
// and JSON have each block.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/base/expected.h"
#include "runner/report/report_format.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {

enum class SnapshotFormat { kFolded, kPprof, kSpeedscope, kHeaptrack, kJson, kHtml };

// Returns the formats with their words: "folded", "pprof", ...
[[nodiscard]] std::vector<std::pair<std::string_view, SnapshotFormat>> SnapshotFormats();

// Writes `view`. A format that has each block reads the file again. REQUIRES: `view` has been
// read.
[[nodiscard]] Expected<void> ExportSnapshot(SnapshotView& view, SnapshotFormat format,
                                            std::ostream& out,
                                            const ReportSurroundings& surroundings);

// The name of the memory in a profile.
struct ProfileWords {
  std::string_view memory = "live";  // in titles: "live", "temporary"
  std::string_view pprof = "inuse";  // pprof's sample types are inuse_objects and inuse_space
};

// The amounts of stacks, for a profile.
struct StackAmounts {
  std::string image;  // the program
  std::vector<StackAmount> amounts;
  ProfileWords words{};
};

// Writes a profile: one of the formats kFolded, kPprof and kSpeedscope.
void WriteProfile(SnapshotFormat format, std::ostream& out, const ReportSurroundings& surroundings,
                  StackLookup& stacks, const StackAmounts& amounts);

// The two formats that have each block, for ExportSnapshot.
[[nodiscard]] Expected<void> WriteHeaptrack(SnapshotView& view, std::ostream& out);
[[nodiscard]] Expected<void> WriteSnapshotJson(SnapshotView& view, std::ostream& out);

}  // namespace leakgate
