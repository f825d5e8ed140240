// `leakgate adopt`: runs a suite as it is, accepts what it leaves behind, and shows that the gate
// is green from now on, and red for what is new. What is accepted becomes a baseline, or budget
// files by component.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"

namespace leakgate {

struct AdoptCommand {
  std::vector<std::filesystem::path> targets;  // test binaries and CTest build folders
  ProgramLine program;                         // or one binary with arguments
  std::filesystem::path output = "leakgate-baseline.json";
  std::filesystem::path budgets;  // where to write budget files; empty: a baseline has all
  std::vector<std::filesystem::path> suppressions;  // files of other tools
  bool proves = false;
};

void Declare(AdoptCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(AdoptCommand& command, const ProgramLine& program);

// Prints what it does and what it accepted, and returns the exit code: 0 if the gate is green, 1 if
// it is not, or if it did not turn red for the planted leak.
[[nodiscard]] Expected<int> Execute(const AdoptCommand& command);

}  // namespace leakgate
