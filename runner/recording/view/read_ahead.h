// Reads a recording on a thread of its own, while the caller's thread counts what was read before:
// each takes about half of the time. The visitor is called on the caller's thread alone.
#pragma once

#include <functional>

#include "runner/base/expected.h"
#include "runner/recording/file/recorded_event.h"

namespace leakgate {

// Where a recording comes from: a file. It gives the visitor all of it, each time it is called.
using RecordingSource = std::function<Expected<void>(const RecordingVisitor& visitor)>;

// Gives `visitor` all that `source` gives, in the same order. An error of the visitor's ends the
// reading, and is returned.
[[nodiscard]] Expected<void> ReadAhead(const RecordingSource& source,
                                       const RecordingVisitor& visitor);

}  // namespace leakgate
