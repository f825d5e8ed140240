// Asks the kernel which pages of a process's mappings are in memory, when a snapshot is taken.
//
// It serves one process while that lives. The process may run: then the answer describes the moment
// of asking. Called on any thread.
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

// How pages are asked for. Tests choose one.
enum class AskForPages {
  kAsKernelCan,
  kOneByOne,  // as before Linux 6.7
};

// What is known of the pages of all mappings.
struct ResidentPages {
  SnapshotPages all;
  std::vector<MappingPages> mappings;  // one for each that was asked for, in that order
};

// `region` is that of the process. It is used to check the process: one that has executed another
// program has other pages, and so has another process with the same PID.
[[nodiscard]] ResidentPages FindResidentPages(int pid, const RegionReader& region,
                                              const std::vector<MappingCopy>& mappings);

// Does the same for a process that is known to be the right one.
[[nodiscard]] ResidentPages FindResidentPages(int pid, const std::vector<MappingCopy>& mappings,
                                              AskForPages how);

}  // namespace leakgate
