// Tries out the operators new and delete of a run's program, in a process that calls nothing else
// (common/operator_probe.h).
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "runner/reach/operator_account.h"
#include "runner/run/repetition.h"

namespace leakgate {

class OperatorProbe {
 public:
  // Is made before the program begins.
  explicit OperatorProbe(RepetitionSetup setup) : setup_(std::move(setup)) {}

  // Launches the process at the first call, on the calling thread, and waits for it. Returns an
  // empty account where it tells nothing, and where nothing is to be repeated (--confirm=off). One
  // thread at a time.
  const OperatorAccount& Account();

 private:
  RepetitionSetup setup_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<OperatorAccount> account_;
};

}  // namespace leakgate
