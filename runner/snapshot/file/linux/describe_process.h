// What a snapshot says of the process and the machine besides its blocks, as /proc has it.
#pragma once

#include <cstdint>
#include <string>

#include "runner/region/region_reader.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// The facts of the process `pid`, which `region` is of: the region's own word on that may be
// the process's. Of one that has gone, `image` and `command_line` are empty: the caller knows
// them. `moment` is the caller's to say.
[[nodiscard]] SnapshotFacts DescribeProcess(const RegionReader& region, int pid);

// How many threads a process has; 0: it has gone.
[[nodiscard]] int CountThreads(int pid);

// What tells a file from a later one at the same path, where it has no build-id.

struct FileState {
  std::uint64_t bytes = 0;        // 0: there is none
  std::uint64_t modified_ns = 0;  // since 1970

  friend bool operator==(const FileState&, const FileState&) = default;
};

[[nodiscard]] FileState StateOfFile(const std::string& path);

}  // namespace leakgate
