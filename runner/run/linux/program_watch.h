// Watches the program while it runs, and has it and the runner be one to the
// world: a signal for the runner goes to the program, and when the terminal
// stops the program (Ctrl-Z), the runner stops with it, so that the shell sees
// its job stopped.
//
// Main thread only.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "runner/run/linux/group_witness.h"
#include "runner/run/linux/launcher.h"
#include "runner/run/linux/signals.h"

namespace leakgate {

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
  [[nodiscard]] std::optional<ProgramStatus> WaitUntil(std::optional<Clock::time_point> deadline);

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
