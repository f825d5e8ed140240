// `leakgate top`: what grows in processes while they run, by call site.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"
#include "runner/cli/profiler/stack_reading.h"
#include "runner/profiling/live_watch.h"

namespace leakgate {

struct TopCommand {
  std::vector<std::string> subjects;  // one: a PID, or a session's name
  std::chrono::milliseconds every{1000};
  std::optional<std::uint64_t> most_looks;
  std::optional<std::size_t> top;
  TopOrder order = TopOrder::kGrowth;
  StackReading reading;  // its symbols
  OutputForm output = OutputForm::kText;
};

void Declare(TopCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(TopCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(const TopCommand& command);

}  // namespace leakgate
