// The runner's signals, blocked and taken one by one, so that they can be passed
// on to the program (program_watch.h). Those of the runner's own faults stay as
// they are.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <optional>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/run/linux/launcher.h"

namespace leakgate {

class BlockedSignals {
 public:
  // Blocks them on this thread and on those that it starts. Call before any.
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  const sigset_t& blocked() const { return blocked_; }
  // The mask that the runner was started with, for the program to start with.
  const sigset_t& original() const { return original_; }

  // The next one; nullopt after `patience` without any.
  [[nodiscard]] std::optional<siginfo_t> Take(std::chrono::milliseconds patience) const;

 private:
  sigset_t blocked_;
  sigset_t original_;
};

// From the program's end on: signals that ask to end end the runner itself, whatever it waits
// for. For as long as it lives, on the main thread. REQUIRES: BlockedSignals.
class OwnEndSignals {
 public:
  // `late`: one that has come already, and is to end it now.
  explicit OwnEndSignals(std::optional<int> late);
  ~OwnEndSignals();
  OwnEndSignals(const OwnEndSignals&) = delete;
  OwnEndSignals& operator=(const OwnEndSignals&) = delete;

 private:
  sigset_t blocked_;
};

// Whether its sender wants whatever gets it to end, without having found fault with it.
[[nodiscard]] inline bool AsksToEnd(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

// Whether a process sent it. Otherwise the kernel did: a terminal, an alarm.
[[nodiscard]] inline bool WasSentByProcess(const siginfo_t& signal) { return signal.si_code <= 0; }

// Tells a signal that was sent to the runner's whole process group, which the
// program has received by itself, from one sent to the runner alone, which has
// to be passed on. A signal does not say which it was; so a second process sits
// in the group, touches nothing and tells what it receives.
//
//   kill(-group, SIGINT)    runner, witness and program have it    not passed on
//   kill(runner, SIGINT)    the runner alone has it                passed on
//
// It lives no longer than the runner, and not in the program's process tree.

class GroupWitness {
 public:
  // REQUIRES: `signals` are blocked, and this process has no other thread.
  // Without the means for another process it sees nothing.
  explicit GroupWitness(const sigset_t& signals);
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Whether the group was sent `signal` too. Waits a moment to be told.
  [[nodiscard]] bool HasSeen(const siginfo_t& signal);

  // What it tells of one signal.
  struct Sighting {
    int signal;
    pid_t sender;
    timespec seen;  // CLOCK_MONOTONIC
  };

 private:
  bool WaitForSighting(std::chrono::milliseconds patience);

  pid_t pid_ = -1;
  UniqueFd sightings_fd_;
  std::vector<Sighting> sightings_;
};

// Watches the program while it runs, and has it and the runner be one to the
// world: a signal for the runner goes to the program, and when the terminal
// stops the program (Ctrl-Z), the runner stops with it, so that the shell sees
// its job stopped.
//
// Main thread only.

class ProgramWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // All outlive it. REQUIRES: the process has been resumed.
  ProgramWatch(SuspendedProcess& process, const BlockedSignals& signals, GroupWitness& witness)
      : process_(process), signals_(signals), witness_(witness) {}

  // `before` is called before the runner stops itself, `after` when it goes on; either may
  // be empty.
  void AroundStop(std::function<void()> before, std::function<void()> after) {
    before_stop_ = std::move(before);
    after_stop_ = std::move(after);
  }

  // How the program ended; nullopt if it runs on at `deadline`.
  [[nodiscard]] std::optional<ProgramExit> WaitUntil(std::optional<Clock::time_point> deadline);

  // Of the signals that ask to end (util/linux/signal_end.h) the next one that came too late to
  // be passed on. What its group's program has had, as of Ctrl-C, is none.
  [[nodiscard]] std::optional<int> TakeLateRequest();

 private:
  void OnSignal(const siginfo_t& signal);
  bool IsForProgramToo(const siginfo_t& signal);
  void StopIfAsked();

  SuspendedProcess& process_;
  const BlockedSignals& signals_;
  GroupWitness& witness_;
  std::optional<Clock::time_point> asked_to_stop_;
  std::function<void()> before_stop_;
  std::function<void()> after_stop_;
};

}  // namespace leakgate
