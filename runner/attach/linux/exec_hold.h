// Holds each program of the machine when it begins, until it is decided about. Wanted programs get
// the agent at their first instruction, whoever starts them.
//
//   execve          the kernel opens the file, asks here (fanotify, FAN_OPEN_EXEC_PERM), and waits
//   which user?     if none of that user's processes are to be traced, the exec is allowed
//   wanted?         that user's worker is asked (exec_catch.h), which reads the arguments. If the
//                   program is not wanted, the exec is allowed. If it is, the worker first seizes
//                   the thread by ptrace
//   its exec stops  at the first instruction: the worker preloads the agent and lets it run
//
// A process that holds all programs can stop the machine. Another user can block it by a slow file
// system or slow memory. So whatever depends on another user is done by that user's worker, a
// process that can be given up:
//
// - This process reads no file and no memory of a program, walks no path, and executes nothing. The
//   kernel opens each file for it, so it holds only programs of file systems that no other user
//   serves (watched_mounts.h).
// - A worker that makes no progress for kWorkerPatience, or is late again and again, is killed. Its
//   user's programs are then allowed, and no question about them is asked for kBarred, nor before
//   the kernel has ended the worker. Wanted programs among them are reported as missed.
// - A watchdog, a process of its own, checks that this process makes progress. If it does not, the
//   watchdog answers everything in its place, and ends it after a second (exec_watchdog.h).
// - When this process ends, for whatever reason, the kernel lets all held programs continue. The
//   workers end, too, and the kernel releases the threads that they had seized. If even the
//   watchdog makes no progress, a timer of the kernel ends this process after kMostSilence.
//
// Used in a process of its own with one thread (runner/sessions/linux/exec_holder.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "runner/attach/linux/exec_watchdog.h"
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
  // Reports a program of such a file that begins without having been stopped. `problem` is empty if
  // the program is another user's.
  std::function<void(int tid, const std::string& path, unsigned uid, std::string problem)>
      on_missed;
  // Reports that so many programs begin without having been looked at, of any file and with any
  // arguments: nobody knows whether they are wanted.
  std::function<void(std::uint64_t count)> on_unseen;
  // Receives a worker's notices (exec_catch.h).
  std::function<void(std::string_view notice)> on_notice;
  // Reports that no questions are asked about programs of that user for a while.
  std::function<void(unsigned uid)> on_barred;
};

class ExecHold {
 public:
  static constexpr std::chrono::seconds kMostSilence{3};
  // Serve must be called at least this often.
  static constexpr std::chrono::milliseconds kMostPause{500};

  // `workers` makes both kinds of workers: one whose first message is kMountsRequest sends the
  // roots of file systems (SendRootsOfMounts); any other one receives `orders` and questions.
  // Fails, with the reason, if the kernel does not let this process hold anything. Returns once
  // programs are held.
  [[nodiscard]] static Expected<ExecHold> Open(ExecHoldHandlers handlers, WorkerFactory workers,
                                               std::string orders);
  static constexpr std::string_view kMountsRequest = "mounts";

  // fd() is readable when Serve is to be called. On mounts_fd(), poll reports an error once when
  // file systems have been mounted; then NoteMounts must be called before Serve.
  int fd() const { return events_.get(); }
  int mounts_fd() const { return mounts_.get(); }
  void NoteMounts() { have_mounts_changed_ = true; }
  // Returns for how long there is nothing to do.
  [[nodiscard]] std::chrono::milliseconds TimeToWait() const;
  // Answers questions, and receives what the workers have sent. Never blocks.
  void Serve();
  // Sets what the workers need to know from now on.
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
    Clock::time_point moved;  // when the worker last sent something, or was asked while it was idle
    std::size_t waiting = 0;
    std::size_t asked = 0;               // of those, what the worker has been asked about
    std::deque<std::uint64_t> queued{};  // the questions of the others, the oldest first
    std::uint32_t seized = 0;
    int late = 0;  // how often it has made no progress for a while, since `first_late`
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
  [[nodiscard]] HoldProgress& progress() const;

  void Answer();
  void Decide(int tid, UniqueFd file);
  void Ask(unsigned uid, int tid, UniqueFd file);
  void AskQueued(User& user);
  User* WorkerOf(unsigned uid);
  void Allow(int file) const;
  // Allows the exec, and reports it if the program is, or may be, wanted. `problem` is empty if its
  // user's programs are not.
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
  Mapping progress_;          // shared with the watchdog
  std::set<FileId> linkers_;  // files about which no questions are asked
  std::uint64_t last_ask_ = 0;
  std::size_t most_waiting_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;  // by the number of the question
  std::map<unsigned, User> users_;            // the users who have a worker
  std::list<GivenUp> given_up_;
  std::map<unsigned, Clock::time_point> barred_;  // each with the time until which it is barred
  std::optional<Marker> marker_;
  bool have_mounts_changed_ = true;
};

}  // namespace leakgate
