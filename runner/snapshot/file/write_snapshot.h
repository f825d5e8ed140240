// Copies the live map of a traced process into a snapshot file. The process may run, wait
// or have gone: only its region is read.
//
// Called on any thread, on one at a time for one region. What the process writes into the
// region meanwhile, or has scribbled on, makes the file wrong about the process, never
// broken: each value is copied once and checked.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "runner/base/expected.h"
#include "runner/region/region_reader.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

struct SnapshotRequest {
  SnapshotFacts facts;  // as DescribeProcess has them, and what the caller knows besides
  // What a thread that has not ended is called; none: not told.
  std::function<std::string(int tid)> thread_name;
  // Called once all blocks are copied, before the file is put in its place; an error keeps it
  // from there. None: nothing is asked.
  std::function<Expected<void>()> copied{};
};

// The file is there only when all of it is. Returns what it came to.
[[nodiscard]] Expected<SnapshotClosing> WriteSnapshot(const RegionReader& region,
                                                      const SnapshotRequest& request,
                                                      const std::filesystem::path& path);

// The same, as the text of the file.
[[nodiscard]] Expected<std::string> SnapshotText(const RegionReader& region,
                                                 const SnapshotRequest& request);

}  // namespace leakgate
