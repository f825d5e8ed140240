// `leakgate doctor`: examines whether a program can be gated, or whether this machine is as
// leakgate takes for granted.
#pragma once

#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/report/style.h"
#include "runner/run/doctor.h"

namespace leakgate {

struct DoctorCommand {
  bool is_self_test = false;
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> words;  // before the two dashes; Complete splits them
};

void Declare(DoctorCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(DoctorCommand& command, const ProgramLine& program);

// Returns 0 if the program can be gated, or if the self-test holds; 3 if not.
[[nodiscard]] Expected<int> Execute(const DoctorCommand& command);

// Each returns the answer, then a line for each check. Pure.
[[nodiscard]] std::string SelfTestText(const std::vector<Check>& checks, Colour colour);
[[nodiscard]] std::string DoctorText(const std::string& program, const std::vector<Check>& checks,
                                     Colour colour);

}  // namespace leakgate
