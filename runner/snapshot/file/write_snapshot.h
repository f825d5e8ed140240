// Copies the live map of a traced process into a snapshot file. Only its region is read, so the
// process may run, wait or have ended.
//
// Called on any thread, but for one region on one thread at a time. Each value is copied once
// and checked, so the file is valid even if the process overwrites its region, though what the
// file says may then be wrong.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "runner/base/expected.h"
#include "runner/region/region_reader.h"
#include "runner/snapshot/file/region_records.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// Whether the kernel is asked which pages of the program's mappings are in memory.
enum class Pages { kAsk, kLeaveOut };

struct SnapshotRequest {
  SnapshotFacts facts;  // from DescribeProcess, with additions by the caller
  ThreadNames thread_name;
  // Called when all blocks are copied, before the file is put in its place. If it returns an error,
  // no file remains. It may be empty.
  std::function<Expected<void>()> copied{};
  Pages pages = Pages::kAsk;
};

// Returns what the region contains about the process at the end, without counts of blocks. Must be
// called last, because drops that happen while blocks are copied count, too.
[[nodiscard]] SnapshotClosing ClosingOf(const RegionReader& region, std::uint32_t current_window);

// CLOCK_MONOTONIC, as are the times of windows.
[[nodiscard]] std::uint64_t MonotonicNow();

// Writes the file, which appears only when it is complete. Returns its closing record.
[[nodiscard]] Expected<SnapshotClosing> WriteSnapshot(const RegionReader& region,
                                                      const SnapshotRequest& request,
                                                      const std::filesystem::path& path);

// Returns the content of the file instead of writing it.
[[nodiscard]] Expected<std::string> SnapshotText(const RegionReader& region,
                                                 const SnapshotRequest& request);

}  // namespace leakgate
