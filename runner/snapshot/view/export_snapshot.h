// A snapshot in the formats of other tools. The profiles (folded, pprof, speedscope) have
// its stacks with what each has, as those of reports do; heaptrack's and the JSON have
// each block.
#pragma once

#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/base/expected.h"
#include "runner/report/report_writer.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {

enum class SnapshotFormat { kFolded, kPprof, kSpeedscope, kHeaptrack, kJson };

// "folded", "pprof", ..., each with what it stands for.
[[nodiscard]] std::vector<std::pair<std::string_view, SnapshotFormat>> SnapshotFormats();

// `view` has been read; its file is read again where each block is told.
[[nodiscard]] Expected<void> ExportSnapshot(SnapshotView& view, SnapshotFormat format,
                                            std::ostream& out,
                                            const ReportSurroundings& surroundings);

// The formats that have each block. As ExportSnapshot.
[[nodiscard]] Expected<void> WriteHeaptrack(SnapshotView& view, std::ostream& out);
[[nodiscard]] Expected<void> WriteSnapshotJson(SnapshotView& view, std::ostream& out);

}  // namespace leakgate
