// Texts that the headings of snapshots and of recordings share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/region/amount.h"
#include "runner/report/style.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// Returns a time since 1970 in UTC, in a format of {fmt}: "{:%Y-%m-%d %H:%M:%S} UTC".
[[nodiscard]] std::string UtcText(std::uint64_t unix_ns, const char* format);

// Returns "1.2 MiB (1258291 B) in 1200 blocks".
[[nodiscard]] std::string ExactAmount(Amount amount);

// Returns the lines that say what is missing. Their key takes at least `key_columns`.
[[nodiscard]] std::string MissingText(const std::vector<std::string>& missing,
                                      std::size_t key_columns, const TextStyle& style);

// Returns a line for every kind of event that the agent could not record.
[[nodiscard]] std::vector<std::string> DropsText(const SnapshotClosing& closing);

}  // namespace leakgate
