// Watches the program while it runs, and passes the runner's signals on to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/run/launcher.h"

namespace leakgate {

// What a signal's receiver is told.
struct ReceivedSignal {
  int number = 0;
  int sender = 0;           // its PID, if a process sent it
  int code = 0;             // why it was sent (si_code of sigaction(2))
  std::intptr_t value = 0;  // of sigqueue(3)
};

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

  const SignalMask& blocked() const { return blocked_; }
  // The mask that the runner was started with, for the program to start with.
  const SignalMask& original() const { return original_; }

  // Returns the next signal; nullopt if none comes for `patience`.
  [[nodiscard]] std::optional<ReceivedSignal> Take(std::chrono::milliseconds patience) const;

 private:
  SignalMask blocked_;
  SignalMask original_;
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
  SignalMask blocked_;
};

// Returns whether the signal asks its receiver to end, and not because of a fault.
[[nodiscard]] bool AsksToEnd(int signal);
// Returns whether somebody has ended the process: by a signal or Ctrl-C, and not by its own fault.
[[nodiscard]] bool EndedByWish(const ProgramExit& program);

// Returns whether a process sent the signal. Otherwise the kernel did: a terminal, an alarm.
[[nodiscard]] inline bool WasSentByProcess(const ReceivedSignal& signal) {
  return signal.code <= 0;
}

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
  explicit GroupWitness(const SignalMask& signals);
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Returns whether the whole group was sent `signal`. Waits a moment for the witness's report.
  [[nodiscard]] bool HasSeen(const ReceivedSignal& signal);

  // The witness's report of one signal.
  struct Sighting {
    int signal;
    int sender;
    std::chrono::steady_clock::time_point seen;
  };

 private:
  bool WaitForSighting(std::chrono::milliseconds patience);

  int pid_ = -1;
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
  void OnSignal(const ReceivedSignal& signal);
  bool MustPassOn(const ReceivedSignal& signal);
  void StopIfAsked();

  SuspendedProcess& process_;
  const BlockedSignals& signals_;
  GroupWitness& witness_;
  std::optional<Clock::time_point> asked_to_stop_;
  std::function<void()> before_stop_;
  std::function<void()> after_stop_;
};

// What is said of a program whose agent has not seen its end, and of one in which no agent started:
// why that may be here, and what to do.
[[nodiscard]] std::string_view UnseenEndText();
[[nodiscard]] std::string_view NoAgentText();

}  // namespace leakgate
