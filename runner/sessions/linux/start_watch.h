// Watches for programs that start anywhere, for a session that traces more than what starts below
// it. It runs on a thread of the owner.
//
// With a holder (exec_holder.h), each of these programs has the agent from its first instruction
// on; this thread receives the holder's notices. Programs on file systems that the holder does not
// watch, and all programs if there is no holder, are searched for in /proc and attached to while
// they run. A program that ends before the search finds it is missed; how many may have been missed
// is counted.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runner/sessions/linux/exec_holder.h"
#include "runner/sessions/session_messages.h"
#include "runner/sessions/session_processes.h"

namespace leakgate {

struct StartWatchSetup {
  SessionReach reach = SessionReach::kBelow;
  SessionUsers users;
  std::string control;
  std::filesystem::path agent;
  // Returns what a process executes; nothing if reading it takes too long.
  std::function<std::optional<ExecutedProgram>(int pid)> describe;
  // Attaches to a process that runs, unless its agent asks by itself.
  std::function<Expected<void>(int pid)> enable;
};

class StartWatch {
 public:
  // `holder` may be empty; then `why_not_held` says why. `processes` must outlive this object.
  StartWatch(StartWatchSetup setup, SessionProcesses& processes, std::optional<ExecHolder> holder,
             std::string why_not_held);
  // Ends the holder first.
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

  // Sends the holder what is wanted now.
  void NoteChange();
  [[nodiscard]] WatchStatus Status() const;

 private:
  // A process as it was in the last pass.
  struct Seen {
    std::string image;
    std::uint64_t start_time = 0;  // of the process: another one may be given its number
    bool is_done = false;          // checking this image again would show nothing new
    bool was_free = false;         // a wanted program ran in it, and the holder did not have it
  };

  struct Waiting {
    int pid;
    std::uint64_t start_time;
    unsigned uid;
    ExecutedProgram program;
  };

  void Serve();
  enum class Which { kYoung, kAll };
  void Look(Which which);
  void HearHolder();
  // Finds the processes that have begun since the last time.
  void TakeNew();
  void LookAtYoung();
  void LookAtAll();
  void LookAt(int pid);
  // Queues a process in which a wanted program runs that is not traced.
  void Attach(Waiting waiting);
  void AttachQueued();
  // Returns the next process to attach to; no user occupies all workers. REQUIRES: mutex_ is held.
  [[nodiscard]] std::deque<Waiting>::iterator NextWaiting();
  void AttachTo(Waiting next);

  const StartWatchSetup setup_;
  SessionProcesses& processes_;
  std::optional<ExecHolder> holder_;
  std::atomic<bool> is_holding_;
  std::atomic<std::uint64_t> unseen_{0};
  std::map<int, Seen> seen_;
  // Processes, each with the number of passes in which it is still checked.
  std::deque<std::pair<int, int>> young_;
  int last_pid_ = 0;             // the last that the kernel has given
  std::vector<int> ran_before_;  // set by the constructor

  mutable std::mutex mutex_;  // protects what follows
  std::string why_not_held_;
  std::vector<unsigned> let_go_;  // users, as in WatchStatus
  std::deque<Waiting> queue_;
  // The number of processes that are being attached to, by user.
  std::map<unsigned, std::size_t> attaching_;
  bool is_ending_ = false;
  std::condition_variable queued_;

  UniqueFd end_;  // an eventfd
  std::vector<std::thread> workers_;
  std::thread thread_;
};

}  // namespace leakgate
