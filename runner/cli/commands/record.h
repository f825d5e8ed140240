// `leakgate record`: records each allocation of a program, of its life from beginning to end.
#pragma once

#include "runner/cli/app/option_list.h"
#include "runner/cli/app/option_values.h"
#include "runner/run/recorded_run.h"

namespace leakgate {

struct RecordCommand {
  RecordRequest request;
  bool replaces = false;  // --force
  std::optional<WhenFull> when_full;
  std::optional<std::uint32_t> stack_events;
  bool is_quiet = false;
};

void Declare(RecordCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(RecordCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(RecordCommand command);

}  // namespace leakgate
