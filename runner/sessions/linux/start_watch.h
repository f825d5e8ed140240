// Watches for programs that start anywhere, for a session whose reach is more than what starts
// below it. A thread of the owner's.
//
// With a holder (exec_holder.h) each of them has the agent from its first instruction on; this
// thread hears what became of it. What the holder is not asked about (file systems that it does not
// watch), and all if there is no holder, is looked for in /proc and attached to while it runs. A
// program that ends before it was looked at is missed; how many there may have been is counted.
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
  // Returns what a process executes; nothing if it keeps whoever looks waiting.
  std::function<std::optional<ExecutedProgram>(int pid)> describe;
  // Attaches to a process that runs, unless it asks by itself.
  std::function<Expected<void>(int pid)> enable;
};

class StartWatch {
 public:
  // `holder` may be nothing; `why_not_held` tells why then. `processes` must outlive this object.
  StartWatch(StartWatchSetup setup, SessionProcesses& processes, std::optional<ExecHolder> holder,
             std::string why_not_held);
  // Ends the holder first.
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

  // Has the holder know what is wanted now.
  void NoteChange();
  [[nodiscard]] WatchStatus Status() const;

 private:
  // A process as it was looked at last.
  struct Seen {
    std::string image;
    std::uint64_t start_time = 0;  // of the process: another one may be given its number
    bool is_done = false;          // another look at this image shows nothing new
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
  // Finds out which processes have begun since the last time.
  void TakeNew();
  void LookAtYoung();
  void LookAtAll();
  void LookAt(int pid);
  // A wanted program that is not traced runs in the process.
  void Attach(Waiting waiting);
  void AttachQueued();
  // Returns the next that is to be attached to; no user takes all workers. REQUIRES: mutex_ is
  // held.
  [[nodiscard]] std::deque<Waiting>::iterator NextWaiting();
  void AttachTo(Waiting next);

  const StartWatchSetup setup_;
  SessionProcesses& processes_;
  std::optional<ExecHolder> holder_;
  std::atomic<bool> is_holding_;
  std::atomic<std::uint64_t> unseen_{0};
  std::map<int, Seen> seen_;
  std::deque<std::pair<int, int>> young_;  // processes, with how often they are still looked at
  int last_pid_ = 0;                       // that the kernel has given
  std::vector<int> ran_before_;            // set by the constructor

  mutable std::mutex mutex_;  // protects what follows
  std::string why_not_held_;
  std::vector<unsigned> let_go_;  // users, as in WatchStatus
  std::deque<Waiting> queue_;
  std::map<unsigned, std::size_t> attaching_;  // to how many processes of each user
  bool is_ending_ = false;
  std::condition_variable queued_;

  UniqueFd end_;  // an eventfd
  std::vector<std::thread> workers_;
  std::thread thread_;
};

}  // namespace leakgate
