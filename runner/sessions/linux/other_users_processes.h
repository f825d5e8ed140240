// Reads other users' processes for a session's owner, and attaches to them, through worker
// processes that can be given up (process/linux/worker_factory.h). A process that reads another
// process's memory, or a file that it names, waits as long as a file system of that user likes, and
// no signal ends such a wait. If a user's process has made a worker wait too long, that user's
// processes are not read for kBarred, nor before the kernel has ended that worker.
//
// Processes of the owner's own user are read directly. Any thread may call these functions.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runner/attach/attach.h"
#include "runner/base/expected.h"
#include "runner/process/linux/worker_factory.h"
#include "runner/process/process_image.h"

namespace leakgate {

// What to do with a process that was started with the session's variables. Its agent asks by
// itself, unless tracing has been disabled in it since.
enum class IfItAsks { kLeaveIt, kAttach };

class OtherUsersProcesses {
 public:
  // REQUIRES: this process has one thread, which lives as long as this object.
  [[nodiscard]] static Expected<std::unique_ptr<OtherUsersProcesses>> Fork();

  // Returns what the process executes; nothing if reading it takes too long. Another user's process
  // delays the call by kDescribePatience at most.
  [[nodiscard]] std::optional<ExecutedProgram> Describe(int pid);
  // These do the same as EnableRunning and DisableRunning.
  [[nodiscard]] Expected<void> Enable(const EnableRequest& request, IfItAsks if_it_asks);
  [[nodiscard]] Expected<void> Disable(int pid);

  // Returns the other user to whom a process belongs, also in part: for a set-uid program, the user
  // who has started it. Returns nothing if the process belongs to this process's user alone.
  [[nodiscard]] static std::optional<unsigned> OtherUserOf(int pid);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kDescribePatience{100};
  static constexpr std::chrono::seconds kAttachPatience{10};
  static constexpr std::chrono::seconds kBarred{30};
  static constexpr std::size_t kMostDescribers = 16;

  struct Barred {
    Clock::time_point until;
    // The worker's socket, which is at its end once the kernel has ended the worker.
    UniqueFd stuck;
  };

  explicit OtherUsersProcesses(WorkerFactory factory) : factory_(std::move(factory)) {}
  // These REQUIRE that mutex_ is held, of which `lock` is the proof.
  using Lock = std::lock_guard<std::mutex>;
  bool IsBarred(const Lock& lock, unsigned uid);
  void GiveUp(const Lock& lock, unsigned uid, WorkerFactory::Worker worker);

  [[nodiscard]] Expected<void> Attach(unsigned uid, const std::string& request);

  std::mutex mutex_;  // protects what follows
  WorkerFactory factory_;
  std::map<unsigned, WorkerFactory::Worker> describers_;  // by user
  std::map<unsigned, Barred> barred_;
};

}  // namespace leakgate
