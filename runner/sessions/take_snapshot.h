// Takes a snapshot of a process that a session or a run traces, or has traced: in the command's
// own process, from the region that the session's owner or the run hands it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "runner/sessions/session_client.h"
#include "runner/snapshot/file/write_snapshot.h"

namespace leakgate {

// kConsistent stops the process for as long as the blocks are copied; else it runs on, and
// they are of slightly different moments.
enum class SnapshotCare { kRunning, kConsistent };

// A process that snapshots can be taken of, any number of times.
class SnapshotSubject {
 public:
  // Of the session `name`; empty: of whichever session or run traces it. A usage error if none
  // does.
  [[nodiscard]] static Expected<SnapshotSubject> Find(int pid, const std::string& name);
  // An error if tracing has not begun in it, or failed.
  [[nodiscard]] static Expected<SnapshotSubject> Of(FoundProcess process);

  const FoundProcess& process() const { return *process_; }
  const RegionReader& region() const { return *region_; }
  [[nodiscard]] bool HasEnded() const;

  struct Taken {
    SnapshotClosing closing;
    std::chrono::nanoseconds stopped{};  // how long the process was
  };
  // The file is there only when all of it is. An error: it cannot be written, or the process
  // cannot be stopped.
  [[nodiscard]] Expected<Taken> Take(const std::filesystem::path& path, SnapshotCare care) const;

 private:
  SnapshotSubject() = default;
  [[nodiscard]] Expected<SnapshotClosing> Write(
      const std::filesystem::path& path, SnapshotMoment moment,
      const std::function<Expected<void>()>& copied = {}) const;
  [[nodiscard]] Expected<SnapshotClosing> WriteStopped(const std::filesystem::path& path) const;

  std::unique_ptr<FoundProcess> process_;
  std::unique_ptr<RegionReader> region_;
  UniqueFd end_;
};

// "redis-server-1234-20261121T143322.snapshot", with a number where there is one already in
// `directory`.
[[nodiscard]] std::string UnusedSnapshotName(const std::filesystem::path& directory,
                                             const FoundProcess& process);

}  // namespace leakgate
