// The file names of exports. Some readers recognise a file by its name, so the wrong name makes a
// good file unreadable. Pure.
#pragma once

#include <filesystem>

#include "runner/base/expected.h"
#include "runner/snapshot/view/export_snapshot.h"

namespace leakgate {

// Returns a usage error if a reader of `format` would not recognise a file with this name:
//
//   live.gz           heaptrack decompresses it, finds nothing, and says nothing
//   live.chrome.json  speedscope takes it for a trace of Chrome's
[[nodiscard]] Expected<void> CheckExportName(SnapshotFormat format,
                                             const std::filesystem::path& path);

// Returns the name for the export of `snapshot`, without a directory: "now.snapshot" becomes
// "now.heaptrack", "now.pb.gz", ...
[[nodiscard]] std::filesystem::path ExportNameFor(SnapshotFormat format,
                                                  const std::filesystem::path& snapshot);

}  // namespace leakgate
