// `leakgate snapshot take --pid PID --etl FILE` on Windows: has wpr trace a process for a while,
// and keep which of the blocks that it allocated meanwhile are live.
#pragma once

#include <chrono>
#include <filesystem>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"

namespace leakgate {

struct EtlSnapshotCommand {
  int pid = 0;
  std::filesystem::path etl;
  std::chrono::milliseconds length = std::chrono::seconds(10);
};

void Declare(EtlSnapshotCommand& command, OptionList& options);
// Declares all but the process.
void DeclareEtl(EtlSnapshotCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(EtlSnapshotCommand& command, const ProgramLine& program);
// Defined for Windows alone. After an error or Ctrl-C, wpr records nothing, and the process is
// traced no longer.
[[nodiscard]] Expected<int> Execute(const EtlSnapshotCommand& command);

}  // namespace leakgate
