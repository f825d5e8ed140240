// The options of a session's ring of snapshots: --snapshots, --every, --keep, --keep-bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/sessions/snapshot_ring.h"

namespace leakgate {

// As they were given.
struct GivenRing {
  std::filesystem::path directory;
  std::optional<std::chrono::milliseconds> every;
  std::optional<std::uint64_t> most_files;
  std::optional<std::uint64_t> most_bytes;
};

void DeclareRing(GivenRing& given, OptionList& options);

// Returns what they come to, the directory as it was given. A usage error, if there is none.
[[nodiscard]] Expected<SnapshotRingSettings> RingOf(const GivenRing& given);

}  // namespace leakgate
