// A region in which the agent's own code has recorded a little of everything, for the
// fuzzer to scribble on. One for the whole process.
#pragma once

#include "runner/region/region_file.h"

namespace leakgate::fuzz {

// Recorded at the first call: windows, blocks of several sizes, an allowance, a measuring
// window, frees of earlier windows' blocks, freeing errors and mappings.
[[nodiscard]] RegionFile& SampleRegion();

}  // namespace leakgate::fuzz
