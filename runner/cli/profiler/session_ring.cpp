#include "runner/cli/profiler/session_ring.h"

#include "runner/cli/option_values.h"

namespace leakgate {

void DeclareRing(GivenRing& given, OptionList& options) {
  options.Add("--snapshots", FileWord("DIR"), given.directory,
              "Keep snapshots of each traced process in DIR, which is made if it is absent: "
              "NAME@NUMBER-IMAGE-PID.snapshot, and a last one when the process has ended. The "
              "oldest are removed, also those of an earlier session of that name");
  options.Add("--every", TextWord("TIME"), given.every, ParseDuration,
              "Of --snapshots: how often: 30s, 10min, 1h. Default: 10min");
  options.Add("--keep", TextWord("N"), given.most_files, ParseCount,
              "Of --snapshots: at most N files. Default: 10");
  options.Add("--keep-bytes", TextWord("SIZE"), given.most_bytes, ParseBytes,
              "Of --snapshots: at most so much in all of them: 500K, 100M, 2G. One that is just "
              "being written counts when it is complete. Default: no limit");
}

Expected<SnapshotRingSettings> RingOf(const GivenRing& given) {
  if (given.directory.empty()) {
    if (!given.every && !given.most_files && !given.most_bytes) return SnapshotRingSettings{};
    return UsageError("--every, --keep and --keep-bytes are for --snapshots DIR; add it");
  }
  SnapshotRingSettings ring;
  ring.directory = given.directory;
  if (given.every) ring.every = *given.every;
  if (given.most_files) ring.most_files = *given.most_files;
  ring.most_bytes = given.most_bytes;
  return ring;
}

}  // namespace leakgate
