// Answers in place of a holder of programs that makes no progress (exec_hold.h), whatever blocks
// it: a signal, a debugger, or an unexpected file system.
//
// The watchdog is a process of its own, which checks every kPause. The holder counts its steps; an
// odd number means that it is working. A holder that is ready to run and gets no processor is given
// more time than one that is stopped or waits.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// In memory that both share. Relaxed: no other memory is read through them.
struct HoldProgress {
  std::atomic<std::uint64_t> steps;    // of the holder
  std::atomic<std::uint64_t> allowed;  // programs that the watchdog has let go on
};

struct WatchdogSetup {
  const UniqueFd& asked;  // the fanotify group
  HoldProgress& progress;
  int most_files = 0;  // the holder's descriptors have lower numbers
};

// The process name by which the watchdog is recognised.
inline constexpr char kWatchdogName[] = "leakgate-guard";

// Forks the watchdog. It is killed when the calling process ends. REQUIRES: the calling process has
// one thread.
[[nodiscard]] Expected<void> ForkWatchdog(const WatchdogSetup& setup);

}  // namespace leakgate
