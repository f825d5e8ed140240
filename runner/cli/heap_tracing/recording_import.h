// `leakgate recording import`: what was live at the end of a recording that Windows' own heap
// tracing has made (.etl), by call stack. Works on each system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"
#include "runner/etw/file/etl_heaps.h"

namespace leakgate {

struct RecordingImportCommand {
  std::filesystem::path file;
  int pid = 0;  // 0: the only process that there is
  std::uint64_t top = 10;
  OutputForm output = OutputForm::kText;
};

void Declare(RecordingImportCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(RecordingImportCommand& command, const ProgramLine& program);

// Returns 3 if the file lacks something, so that what is shown may have been freed.
[[nodiscard]] Expected<int> Execute(const RecordingImportCommand& command);

// Returns the process that was asked for; a usage error lists those that there are. Pure.
[[nodiscard]] Expected<EtlProcess> ChooseProcess(const EtlHeaps& heaps, int pid);

// Pure.
[[nodiscard]] std::string ImportText(const EtlProcess& process, const EtlGaps& gaps,
                                     std::uint64_t top);
[[nodiscard]] std::string ImportJson(const EtlProcess& process, const EtlGaps& gaps);

}  // namespace leakgate
