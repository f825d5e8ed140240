// Finds the facts about the process and the machine that a snapshot contains.
#pragma once

#include <string>

#include "runner/process/process_image.h"
#include "runner/region/region_reader.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// Returns the facts of the process `pid`, which executes `program` and whose region is `region`.
// The PID in the region is not trusted, since the process can write there. No memory of the process
// is read, because the process could delay that for as long as it likes. The caller sets `moment`.
[[nodiscard]] SnapshotFacts DescribeProcess(const RegionReader& region, int pid,
                                            ExecutedProgram program);

// What a snapshot tells of the machine.
struct MachineFacts {
  std::string host;     // its name
  std::string kernel;   // the system, its version, and the processor: "Linux 6.1.0 x86_64"
  std::string boot_id;  // distinguishes this boot from others; empty: unknown
};
[[nodiscard]] MachineFacts DescribeMachine();

}  // namespace leakgate
