// Takes snapshots of a process that a session or a run traces, or has traced. The command takes
// them in its own process, from the region that the session's owner or the run sends it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "runner/sessions/session_client.h"
#include "runner/snapshot/file/write_snapshot.h"

namespace leakgate {

// kConsistent stops the process while the blocks are copied. With kRunning it continues, so the
// copied blocks are from slightly different moments.
enum class SnapshotCare { kRunning, kConsistent };

// A process of which any number of snapshots can be taken.
class SnapshotSubject {
 public:
  // Finds `pid` in the session `name`, or in any session or run if `name` is empty. Returns a usage
  // error if it is not traced.
  [[nodiscard]] static Expected<SnapshotSubject> Find(int pid, const std::string& name);
  // Returns an error if tracing has not begun in the process, or has failed.
  [[nodiscard]] static Expected<SnapshotSubject> Of(FoundProcess process);

  const FoundProcess& process() const { return *process_; }
  const RegionReader& region() const { return *region_; }
  [[nodiscard]] bool HasEnded() const;

  struct Taken {
    SnapshotClosing closing;
    std::chrono::nanoseconds stopped{};  // how long the process was stopped
  };
  // Writes a snapshot to `path`; the file appears only when it is complete. Returns an error if it
  // cannot be written or the process cannot be stopped.
  [[nodiscard]] Expected<Taken> Take(const std::filesystem::path& path, SnapshotCare care) const;
  // Returns the content of such a file, as of kRunning, instead of writing it.
  [[nodiscard]] Expected<std::string> Text(Pages pages = Pages::kLeaveOut) const;

 private:
  SnapshotSubject() = default;
  [[nodiscard]] SnapshotRequest RequestFor(SnapshotMoment moment) const;
  [[nodiscard]] Expected<SnapshotClosing> Write(
      const std::filesystem::path& path, SnapshotMoment moment,
      const std::function<Expected<void>()>& copied = {}) const;
  [[nodiscard]] Expected<SnapshotClosing> WriteStopped(const std::filesystem::path& path) const;

  std::unique_ptr<FoundProcess> process_;
  std::unique_ptr<RegionReader> region_;
  UniqueFd end_;
};

// How the value of -o is understood; it is the same for each command. A name that ends in
// ".snapshot", and an existing path that is no directory, mean a file. Anything else means a
// directory, which takes any number of snapshots.
[[nodiscard]] bool IsSnapshotFile(const std::filesystem::path& output);

// Returns where to write the next snapshot of `process`. If `output` means a file, this is that
// file, which must not exist yet. Otherwise it is an unused name in that directory, which is made
// if it is absent, such as "redis-server-1234-20261121T143322.snapshot". An empty `output` means
// the working directory.
[[nodiscard]] Expected<std::filesystem::path> PlaceOfSnapshot(const std::filesystem::path& output,
                                                              const FoundProcess& process);

// Makes `directory`, if it is absent.
[[nodiscard]] Expected<void> MakeSnapshotDirectory(const std::filesystem::path& directory);

}  // namespace leakgate
