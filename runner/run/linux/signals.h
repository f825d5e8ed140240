// The runner's signals, blocked and taken one by one, so that they can be passed
// on to the program (program_watch.h). Those of the runner's own faults stay as
// they are.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

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

}  // namespace leakgate
