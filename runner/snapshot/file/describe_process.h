// Reads from /proc the facts about the process and the machine that a snapshot contains.
#pragma once

#include <cstdint>
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

// Returns the number of a process's threads, or 0 if it has ended.
[[nodiscard]] int CountThreads(int pid);

// Distinguishes a file from a later one at the same path, if it has no build-id.
struct FileState {
  std::uint64_t bytes = 0;        // 0: there is no such file
  std::uint64_t modified_ns = 0;  // since 1970

  friend bool operator==(const FileState&, const FileState&) = default;
};

[[nodiscard]] FileState StateOfFile(const std::string& path);

}  // namespace leakgate
