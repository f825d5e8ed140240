// A SignalMask is a sigset_t.
#pragma once

#include <signal.h>

#include <cstring>

#include "runner/run/launcher.h"

namespace leakgate {

static_assert(sizeof(sigset_t) <= SignalMask::kBytes);

// Async-signal-safe.
[[nodiscard]] inline sigset_t SetOf(const SignalMask& mask) {
  sigset_t set;
  std::memcpy(&set, mask.bits.data(), sizeof(set));
  return set;
}

[[nodiscard]] inline SignalMask MaskOf(const sigset_t& set) {
  SignalMask mask;
  std::memcpy(mask.bits.data(), &set, sizeof(set));
  return mask;
}

}  // namespace leakgate
