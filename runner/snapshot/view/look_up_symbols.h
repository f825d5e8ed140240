// Looks up the names of all addresses of a snapshot, so that it can be shown on a machine without
// the files of its modules.
#pragma once

#include "runner/snapshot/file/bundle.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// Names that the file already has are kept.
[[nodiscard]] SymbolsToAdd LookUpSymbols(const SnapshotContents& contents, Symbolizer& symbolizer);

}  // namespace leakgate
