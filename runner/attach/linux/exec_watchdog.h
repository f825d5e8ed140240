// Answers for a holder of programs that has stopped to move (exec_hold.h), whatever keeps it: a
// signal, a debugger, or a file system that nobody had thought of.
//
// A process of its own, which looks each kPause. The holder counts its steps in memory that both
// share; an odd number says that it is at work. A holder that is ready to run and gets no processor
// is given more time than one that is stopped or waits.
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

// By which it is known.
inline constexpr char kWatchdogName[] = "leakgate-guard";

// Forks it. It is killed when the calling process ends. REQUIRES: that has one thread.
[[nodiscard]] Expected<void> ForkWatchdog(const WatchdogSetup& setup);

}  // namespace leakgate
