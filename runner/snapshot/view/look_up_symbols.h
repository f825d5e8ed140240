// Looks up what all addresses of a snapshot are called, so that it can be shown where the files of
// its modules are not.
#pragma once

#include "runner/snapshot/file/bundle.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// What the file knows already stays.
[[nodiscard]] SymbolsToAdd LookUpSymbols(const SnapshotContents& contents, Symbolizer& symbolizer);

}  // namespace leakgate
