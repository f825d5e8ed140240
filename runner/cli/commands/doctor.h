// `leakgate doctor`: what was asked for, doing it, and what it prints.
#pragma once

#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/app/option_list.h"
#include "runner/report/style.h"
#include "runner/run/doctor.h"

namespace leakgate {

struct DoctorCommand {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> words;  // what stands before two dashes: Complete takes it apart
};

void Declare(DoctorCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(DoctorCommand& command, const ProgramLine& program);

// 0: it can be gated; 3: it cannot.
[[nodiscard]] Expected<int> Execute(const DoctorCommand& command);

// The answer, then a line for each check. Pure.
[[nodiscard]] std::string DoctorText(const std::string& program, const std::vector<Check>& checks,
                                     Colour colour);

}  // namespace leakgate
