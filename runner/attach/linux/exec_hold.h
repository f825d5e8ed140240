// Holds every program of the machine that begins until it is decided about: wanted ones get the
// agent at their first instruction, whoever starts them.
//
//   execve          the kernel opens the file, asks here (fanotify, FAN_OPEN_EXEC_PERM), and waits
//   of whom?        nobody's that is wanted: it is allowed to go on
//   wanted?         a worker of that user's is asked (exec_catch.h), which reads the arguments.
//                   No: it is allowed to go on. Yes: the worker seizes the thread by ptrace first
//   its exec stops  at the first instruction: the worker has the agent preloaded, and lets it go
//
// Whoever holds all programs can stop a machine. What another user can delay by a file system or by
// memory of his own is therefore done by that user's worker alone, a process that can be given up:
//
//   - This process reads no file and no memory of a program, walks no path, and executes nothing.
//     The kernel opens each file for it, so only file systems are held that nobody else serves
//     (watched_mounts.h).
//   - A worker that does not move for kWorkerPatience, or is late time and again, is killed; its
//     user's programs are let go, and are not asked about for kBarred, nor before the kernel has
//     ended the worker. What was wanted among them is told as missed.
//   - A watchdog, a process of its own, sees whether this one moves. Where it does not, the
//   watchdog
//     answers everything in its place, and ends it after a second (exec_watchdog.h).
//   - When this process ends, however it ends, the kernel lets all go on that were held, and, by
//     the end of the workers, whom they had seized. Where the watchdog does not move either, a
//     timer of the kernel ends this process after kMostSilence.
//
// Used in a process of its own with one thread (runner/sessions/linux/exec_holder.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/base/linux/proc_place.h"
#include "runner/process/linux/worker_factory.h"

namespace leakgate {

struct ExecHoldHandlers {
  // Returns whether processes of that user are to be traced.
  std::function<bool(unsigned uid)> is_wanted_user;
  // Returns whether a program of that file is wanted, whatever its arguments are.
  std::function<bool(const std::string& path)> is_wanted_file;
  // Tells that a program of such a file begins without having been stopped. `problem` is empty if
  // it is another user's.
  std::function<void(int tid, const std::string& path, unsigned uid, std::string problem)>
      on_missed;
  // Takes what a worker has to tell (exec_catch.h).
  std::function<void(std::string_view notice)> on_notice;
  // Tells that programs of that user are not asked about for a while.
  std::function<void(unsigned uid)> on_barred;
};

class ExecHold {
 public:
  static constexpr std::chrono::seconds kMostSilence{3};
  // How often Serve must be called at least.
  static constexpr std::chrono::milliseconds kMostPause{500};

  // `workers` make both kinds of workers: one whose first message is kMountsRequest sends the roots
  // of file systems (SendRootsOfMounts), another one is told `orders` and questions. Fails, with
  // the reason, if the kernel lets this process hold nothing. Returns once programs are held.
  [[nodiscard]] static Expected<ExecHold> Open(ExecHoldHandlers handlers, WorkerFactory workers,
                                               std::string orders);
  static constexpr std::string_view kMountsRequest = "mounts";

  // Readable when Serve is to be called; and one on which poll tells an error when file systems
  // have been mounted, once: then NoteMounts is to be called before.
  int fd() const { return events_.get(); }
  int mounts_fd() const { return mounts_.get(); }
  void NoteMounts() { have_mounts_changed_ = true; }
  // For how long nothing is to be done.
  [[nodiscard]] std::chrono::milliseconds TimeToWait() const;
  // Answers, and hears the workers. Waits for nobody.
  void Serve();
  // What workers are to know from now on.
  void Change(std::string orders);

 private:
  using Clock = std::chrono::steady_clock;

  // A program that waits in its exec.
  struct Waiting {
    UniqueFd file;
    int tid = 0;
    unsigned uid = 0;
  };
  struct User {
    WorkerFactory::Worker worker;
    Clock::time_point moved;  // when the worker has told something, or was asked while it was idle
    std::size_t waiting = 0;
    std::uint32_t seized = 0;
    int late = 0;  // how often since `first_late` it has not moved for a while
    Clock::time_point first_late{};
    bool is_late = false;
  };
  struct GivenUp {
    WorkerFactory::Worker worker;
    unsigned uid = 0;
  };
  struct Marker {
    WorkerFactory::Worker worker;
    Clock::time_point since;
  };

  ExecHold(ExecHoldHandlers handlers, WorkerFactory workers, std::string orders)
      : handlers_(std::move(handlers)), workers_(std::move(workers)), orders_(std::move(orders)) {}
  Expected<void> Begin();
  Expected<void> StartWatchdog();
  void KeepAlive() const;

  void Answer();
  void Decide(int tid, UniqueFd file);
  void Ask(unsigned uid, int tid, UniqueFd file);
  User* WorkerOf(unsigned uid);
  void Allow(int file) const;
  // Allows it, and tells of it if it is wanted.
  void ReleaseProgram(const Waiting& waiting, const std::string& problem);
  void IgnoreFile(int file) const;

  void HearWorkers();
  // Returns false if the worker has ended.
  bool Hear(User& user);
  void ReleaseUser(unsigned uid, const std::string& problem);
  void GiveUpSlowWorkers();
  bool EndIdleWorker();
  static void NoteLate(User& user);
  [[nodiscard]] bool IsBarred(unsigned uid) const;

  void WatchMounts();
  void HearMarker();
  void EndMarker();

  ExecHoldHandlers handlers_;
  WorkerFactory workers_;
  std::string orders_;
  UniqueFd asked_;
  UniqueFd events_;  // an epoll of `asked_` and the workers' sockets
  UniqueFd mounts_;
  void* timer_ = nullptr;
  Mapping steps_;             // shared with the watchdog
  std::set<FileId> linkers_;  // files that nobody is asked about
  std::uint64_t last_ask_ = 0;
  std::size_t most_waiting_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;  // by the number of the question
  std::map<unsigned, User> users_;            // who have a worker
  std::list<GivenUp> given_up_;
  std::map<unsigned, Clock::time_point> barred_;  // until when
  std::optional<Marker> marker_;
  bool have_mounts_changed_ = true;
};

}  // namespace leakgate
