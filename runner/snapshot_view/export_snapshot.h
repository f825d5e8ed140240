// A snapshot in the formats of other tools. The profiles (folded, pprof, speedscope) have
// its stacks with what each has, as those of reports do; heaptrack's and the JSON have
// each block.
#pragma once

#include <optional>
#include <ostream>
#include <string_view>

#include "runner/base/expected.h"
#include "runner/report/report_writer.h"
#include "runner/snapshot_view/snapshot_view.h"

namespace leakgate {

enum class SnapshotFormat { kFolded, kPprof, kSpeedscope, kHeaptrack, kJson };

// "folded", "pprof", ...; none: there is no such.
[[nodiscard]] std::optional<SnapshotFormat> ParseSnapshotFormat(std::string_view word);

// `view` has been read; its file is read again where each block is told.
[[nodiscard]] Expected<void> ExportSnapshot(SnapshotView& view, SnapshotFormat format,
                                            std::ostream& out,
                                            const ReportSurroundings& surroundings);

// The formats that have each block. As ExportSnapshot.
[[nodiscard]] Expected<void> WriteHeaptrack(SnapshotView& view, std::ostream& out);
[[nodiscard]] Expected<void> WriteSnapshotJson(SnapshotView& view, std::ostream& out);

}  // namespace leakgate
