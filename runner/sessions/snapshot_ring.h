// A session's snapshots in a bounded ring of files: each so often one of each traced process, the
// oldest files removed. It runs for months without filling a disk.
//
//   DIR/web@000017-nginx-4711.snapshot     the session web's 17th, of PID 4711
//
// No session's name has an '@', so a file is of one session only. Files of the same session that
// are there already, from before it was started again, belong to the ring: their numbers are gone
// on from, and they are the first to be removed. No other file is touched. A process that has ended
// gets a last snapshot of what it had, soon.
//
// The owner of the session makes it; a thread of its own takes the snapshots.
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
  // Finds those of earlier sessions called `session`, and removes what is beyond the bounds.
  RingFiles(std::string session, const SnapshotRingSettings& settings);

  // Makes room for one more file; returns its path.
  [[nodiscard]] std::filesystem::path Next(const ProcessStatus& process);
  // Counts the file, and removes the oldest ones beyond the bounds. Returns an error if it is
  // larger alone than all may be: then it is removed.
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
  // Of the processes that run, and of those that have ended since.
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
