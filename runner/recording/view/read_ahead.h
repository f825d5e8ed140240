// Reads a recording on a thread of its own, while the caller's thread counts what was read before:
// each takes about half of the time. The visitor is called only on the caller's thread.
#pragma once

#include <functional>

#include "runner/base/expected.h"
#include "runner/recording/file/recorded_event.h"

namespace leakgate {

// The origin of a recording: a file. Each call passes the whole recording to the visitor.
using RecordingSource = std::function<Expected<void>(const RecordingVisitor& visitor)>;

// Passes to `visitor` all that `source` provides, in the same order. An error of the visitor ends
// the reading, and is returned.
[[nodiscard]] Expected<void> ReadAhead(const RecordingSource& source,
                                       const RecordingVisitor& visitor);

}  // namespace leakgate
