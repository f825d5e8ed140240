// Takes a snapshot file of the running process at a place in the code. It contains every live block
// with its size, kind, call stack, test and thread, for `leakgate snapshot show`. For C++14 and
// later, with any test framework or none.
//
//   leakgate::SnapshotOutcome taken = leakgate::TakeSnapshot("after_load.snapshot");
//   if (taken.status == leakgate::SnapshotStatus::kFailed) std::puts(taken.error);
//
// leakgate writes the file. A relative path begins at this process's working directory. In a
// process that has changed its root, an absolute path begins there. An existing file is replaced.
// The calling thread waits; other threads may continue.
#ifndef LEAKGATE_SNAPSHOT_H_
#define LEAKGATE_SNAPSHOT_H_

#include "leakgate/measuring_agent.h"

namespace leakgate {

enum class SnapshotStatus {
  kNotTraced,  // nothing traces this process: there is no leakgate, or a test has forked it
  kTaken,
  kFailed
};

struct SnapshotOutcome {
  SnapshotStatus status;
  char error[512];  // why it failed; empty if it did not
};

inline SnapshotOutcome TakeSnapshot(const char* path) {
  SnapshotOutcome outcome = {SnapshotStatus::kNotTraced, {}};
  const LeakgateAgent* const agent = internal::MeasuringAgent();
  if (agent == nullptr) return outcome;
  switch (agent->take_snapshot(path, outcome.error, sizeof(outcome.error))) {
    case LEAKGATE_SNAPSHOT_TAKEN:
      outcome.status = SnapshotStatus::kTaken;
      break;
    case LEAKGATE_SNAPSHOT_FAILED:
      outcome.status = SnapshotStatus::kFailed;
      break;
    default:
      break;
  }
  return outcome;
}

}  // namespace leakgate

#endif  // LEAKGATE_SNAPSHOT_H_
