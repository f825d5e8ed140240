// Which of a region's mappings may be judged.
#pragma once

#include <vector>

#include "runner/region/region_copies.h"
#include "runner/region/region_reader.h"

namespace leakgate {

// Returns all of them, or none where mappings are recorded for snapshots and recordings alone: on
// Windows, whose own libraries map memory in the program's name.
[[nodiscard]] std::vector<MappingCopy> JudgedMappings(const RegionReader& region);

}  // namespace leakgate
