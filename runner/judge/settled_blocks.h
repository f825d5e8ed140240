// Reads the live blocks of a window that has just ended, once other threads have had the time to
// free theirs. The process waits for the answer, so no more time is spent than may change anything.
#pragma once

#include <functional>
#include <vector>

#include "runner/base/expected.h"
#include "runner/region/region_reader.h"

namespace leakgate {

using ReadBlocks = std::function<Expected<std::vector<LiveBlock>>()>;

// Returns what `read` returns. While threads other than the asking one hold blocks and may be about
// to free them, it waits and reads again, a tenth of a second in all. Once a thread has run for a
// while, or has slept more than once, and has freed none of its blocks, it is not waited for any
// longer; nor is a thread that waits for something else than time to pass. If `asking_tid` is 0,
// nothing is waited for.
[[nodiscard]] Expected<std::vector<LiveBlock>> ReadSettledBlocks(const RegionReader& region,
                                                                 int asking_tid,
                                                                 const ReadBlocks& read);

}  // namespace leakgate
