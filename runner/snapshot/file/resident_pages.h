// Asks the kernel which pages of a process's mappings are in memory, when a snapshot is taken.
//
// Of one process while it lives. It may run: then the answer is of the moment of asking. Called on
// any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/region/region_copies.h"
#include "runner/region/region_reader.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// How pages are asked for. Tests name one.
enum class AskForPages {
  kAsKernelCan,
  kOneByOne,  // as before Linux 6.7
};

// What is known of the pages of all mappings.
struct ResidentPages {
  SnapshotPages all;
  std::vector<MappingPages> mappings;  // one for each that was asked for, in that order
};

// `region` is that of the process: whoever executes another program has other pages, and so has
// another process with the same PID.
[[nodiscard]] ResidentPages FindResidentPages(int pid, const RegionReader& region,
                                              const std::vector<MappingCopy>& mappings);

// The same of a process that is known to be the right one.
[[nodiscard]] ResidentPages FindResidentPages(int pid, const std::vector<MappingCopy>& mappings,
                                              AskForPages how);

}  // namespace leakgate
