// Looks into other users' processes for a session's owner, and attaches to them, by processes that
// can be given up (process/linux/worker_factory.h). Whoever reads a process's memory, or a file
// that it names, waits as long as a file system of that process's user likes: no signal ends such a
// wait. A user's process that has kept a worker waiting is not looked into for kBarred, nor before
// the kernel has ended that worker.
//
// Processes of the owner's own user are looked into directly. Any thread may call these functions.
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

// What to do with a process that was started with the session's variables, so that its agent asks
// by itself, unless tracing has been disabled in it since.
enum class IfItAsks { kLeaveIt, kAttach };

class OtherUsersProcesses {
 public:
  // REQUIRES: this process has one thread, which lives as long as this object.
  [[nodiscard]] static Expected<std::unique_ptr<OtherUsersProcesses>> Fork();

  // Returns what the process executes; nothing if it keeps whoever looks waiting. A stranger delays
  // the call by kDescribePatience at most.
  [[nodiscard]] std::optional<ExecutedProgram> Describe(int pid);
  // As EnableRunning and DisableRunning.
  [[nodiscard]] Expected<void> Enable(const EnableRequest& request, IfItAsks if_it_asks);
  [[nodiscard]] Expected<void> Disable(int pid);

  // Returns the user of a process that is not of this process's user alone: of a set-uid program,
  // who has started it.
  [[nodiscard]] static std::optional<unsigned> OtherUserOf(int pid);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kDescribePatience{100};
  static constexpr std::chrono::seconds kAttachPatience{10};
  static constexpr std::chrono::seconds kBarred{30};
  static constexpr std::size_t kMostDescribers = 16;

  struct Barred {
    Clock::time_point until;
    UniqueFd stuck;  // the worker's socket, which is at its end once the kernel has ended it
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
