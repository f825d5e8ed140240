// Answers in place of a holder of programs that makes no progress (exec_hold.h), whatever blocks
// it: a signal, a debugger, or an unexpected file system.
//
// The watchdog is a process of its own, which checks every kPause. The holder counts its steps in
// memory that both share; an odd number means that it is working. A holder that is ready to run and
// gets no processor is given more time than one that is stopped or waits.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

struct WatchdogSetup {
  const UniqueFd& asked;                    // the fanotify group
  const std::atomic<std::uint64_t>& steps;  // in shared memory
  int most_files = 0;                       // the holder's descriptors have lower numbers
};

// The process name by which the watchdog is recognised.
inline constexpr char kWatchdogName[] = "leakgate-guard";

// Forks the watchdog. It is killed when the calling process ends. REQUIRES: the calling process has
// one thread.
[[nodiscard]] Expected<void> ForkWatchdog(const WatchdogSetup& setup);

}  // namespace leakgate
