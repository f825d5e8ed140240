// Watches the program while it runs, and passes the runner's signals on to it.
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

// Blocks the runner's signals and takes them one by one, so that they can be passed on to the
// program. Signals of the runner's own faults are not blocked.
class BlockedSignals {
 public:
  // Blocks the signals on this thread and on those that it starts later. Call it before any is
  // started.
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  const sigset_t& blocked() const { return blocked_; }
  // The mask that the runner was started with, for the program to start with.
  const sigset_t& original() const { return original_; }

  // Returns the next signal; nullopt if none comes for `patience`.
  [[nodiscard]] std::optional<siginfo_t> Take(std::chrono::milliseconds patience) const;

 private:
  sigset_t blocked_;
  sigset_t original_;
};

// Lets signals that ask to end end the runner itself, from the program's end on, whatever the
// runner waits for. Lives on the main thread. REQUIRES: a BlockedSignals exists.
class OwnEndSignals {
 public:
  // `late` is such a signal that has come already; it ends the runner now.
  explicit OwnEndSignals(std::optional<int> late);
  ~OwnEndSignals();
  OwnEndSignals(const OwnEndSignals&) = delete;
  OwnEndSignals& operator=(const OwnEndSignals&) = delete;

 private:
  sigset_t blocked_;
};

// Returns whether the signal asks its receiver to end, and not because of a fault.
[[nodiscard]] inline bool AsksToEnd(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

// Returns whether a process sent the signal. Otherwise the kernel did: a terminal, an alarm.
[[nodiscard]] inline bool WasSentByProcess(const siginfo_t& signal) { return signal.si_code <= 0; }

// Distinguishes signals that were sent to the runner's whole process group, which the program has
// received itself, from those sent to the runner alone, which must be passed on. A signal does not
// say which it was. So a second process, the witness, sits in the group and reports what it
// receives.
//
//   kill(-group, SIGINT)    runner, witness and program have it    not passed on
//   kill(runner, SIGINT)    the runner alone has it                passed on
//
// The witness ends with the runner and is not in the program's process tree.
class GroupWitness {
 public:
  // If the witness cannot be started, HasSeen always returns false.
  // REQUIRES: `signals` are blocked, and this process has no other thread.
  explicit GroupWitness(const sigset_t& signals);
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Returns whether the whole group was sent `signal`. Waits a moment for the witness's report.
  [[nodiscard]] bool HasSeen(const siginfo_t& signal);

  // The witness's report of one signal.
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

// Makes the program and the runner look like one process: a signal for the runner goes to the
// program, and when the terminal stops the program (Ctrl-Z), the runner stops with it, so that the
// shell sees its job stopped. Main thread only.
class ProgramWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // All arguments must outlive this object. REQUIRES: the process has been resumed.
  ProgramWatch(SuspendedProcess& process, const BlockedSignals& signals, GroupWitness& witness)
      : process_(process), signals_(signals), witness_(witness) {}

  // `before` is called before the runner stops itself, `after` when it goes on; either may
  // be empty.
  void AroundStop(std::function<void()> before, std::function<void()> after) {
    before_stop_ = std::move(before);
    after_stop_ = std::move(after);
  }

  // Returns how the program ended; nullopt if it still runs at `deadline`.
  [[nodiscard]] std::optional<ProgramExit> WaitUntil(std::optional<Clock::time_point> deadline);

  // Returns the next signal that asks to end (base/signal_end.h) and came too late to be passed on;
  // nullopt if there is none. A signal that the program has received itself (Ctrl-C) does not
  // count.
  [[nodiscard]] std::optional<int> TakeLateRequest();

 private:
  void OnSignal(const siginfo_t& signal);
  bool MustPassOn(const siginfo_t& signal);
  void StopIfAsked();

  SuspendedProcess& process_;
  const BlockedSignals& signals_;
  GroupWitness& witness_;
  std::optional<Clock::time_point> asked_to_stop_;
  std::function<void()> before_stop_;
  std::function<void()> after_stop_;
};

}  // namespace leakgate
