// A snapshot file of the running process, taken where the code says: every live block with
// its size, kind, call stack, test and thread, for `leakgate snapshot show`. For C++14 and
// later, with any test framework or none.
//
//   leakgate::SnapshotOutcome taken = leakgate::TakeSnapshot("after_load.snapshot");
//   if (taken.status == leakgate::SnapshotStatus::kFailed) std::puts(taken.error);
//
// leakgate writes the file: a relative path is from this process's working directory, and in
// a process that has changed its root, an absolute one is from there. An existing file is
// replaced. The calling thread waits; others may run on meanwhile.
#ifndef LEAKGATE_SNAPSHOT_H_
#define LEAKGATE_SNAPSHOT_H_

#include "leakgate/measuring_agent.h"

namespace leakgate {

enum class SnapshotStatus {
  kNotTraced,  // nothing traces this process, as without leakgate, or in a fork child
  kTaken,
  kFailed
};

struct SnapshotOutcome {
  SnapshotStatus status;
  char error[512];  // why it failed; empty else
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
