// Snapshots that the program's own code asks for (leakgate::TakeSnapshot).
#pragma once

#include <filesystem>

#include "runner/snapshot/region_reader.h"

namespace leakgate {

// Where a path of the process `pid` leads: from its own working directory, in its own root
// and mounts.
[[nodiscard]] std::filesystem::path PathInProcess(int pid, const std::filesystem::path& path);

// Answers Question::kTakeSnapshot. The thread that asks waits; others may run on.
// REQUIRES: AnswerNothing.
void AnswerSnapshot(const RegionReader& region, Mailbox& mailbox);

}  // namespace leakgate
