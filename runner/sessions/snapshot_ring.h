// A session's snapshots in a limited ring of files: at a fixed interval, one snapshot of each
// traced process is taken, and the oldest files are removed. So it can run for months without
// filling a disk.
//
//   DIR/web@000017-nginx-4711.snapshot     the session web's 17th, of PID 4711
//
// No session's name contains an '@', so a file belongs to one session only. Files that an earlier
// session of the same name has left belong to the ring: numbering continues after them, and they
// are the first to be removed. No other file is touched. A process that has ended soon gets a last
// snapshot of what it had.
//
// The owner of the session makes the ring; a thread of its own takes the snapshots.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "runner/base/expected.h"
#include "runner/sessions/session_messages.h"
#include "runner/sessions/session_processes.h"

namespace leakgate {

struct SnapshotRingSettings {
  std::filesystem::path directory{};  // absolute; empty: no snapshots are taken
  std::chrono::milliseconds every = std::chrono::minutes(10);
  std::size_t most_files = 10;
  std::optional<std::uint64_t> most_bytes{};

  bool IsAsked() const { return !directory.empty(); }
};

// The files of a ring, the oldest first.
class RingFiles {
 public:
  // Finds the files of earlier sessions called `session`, and removes what exceeds the limits.
  RingFiles(std::string session, const SnapshotRingSettings& settings);

  // Makes room for one more file; returns its path.
  [[nodiscard]] std::filesystem::path Next(const ProcessStatus& process);
  // Counts the file, and removes the oldest ones that exceed the limits. If the file alone is
  // larger than all may be, removes it and returns an error.
  [[nodiscard]] Expected<void> Add(const std::filesystem::path& path);

  std::size_t count() const { return files_.size(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct File {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
  };
  void FindEarlier();
  void RemoveOldest();
  void KeepBounds(std::size_t most_files);

  const std::string prefix_;  // "web@"
  const SnapshotRingSettings& settings_;
  std::deque<File> files_;
  std::uint64_t bytes_ = 0;
  std::uint64_t last_number_ = 0;
};

class SnapshotRing {
 public:
  // `processes` must outlive this object.
  SnapshotRing(std::string session, SnapshotRingSettings settings, SessionProcesses& processes);
  // Takes a last snapshot of each process.
  ~SnapshotRing();
  SnapshotRing(const SnapshotRing&) = delete;
  SnapshotRing& operator=(const SnapshotRing&) = delete;

  [[nodiscard]] RingStatus Status() const;

 private:
  void Serve();
  void ServeUntil(std::chrono::steady_clock::time_point next);
  // Takes one of each process that runs, and of each that has ended since.
  void TakeAll();
  void TakeEnded();
  void TakeNoted(const ProcessStatus& process);
  [[nodiscard]] Expected<void> Take(const ProcessStatus& process);

  const std::string session_;
  const SnapshotRingSettings settings_;
  SessionProcesses& processes_;

  mutable std::mutex mutex_;  // protects what follows
  RingFiles files_;
  std::uint64_t taken_ = 0;
  std::string problem_;
  bool is_ending_ = false;
  std::condition_variable ending_;
  std::thread thread_;
};

}  // namespace leakgate
