// Runs the real leakgate on a real binary, and reads its JSON report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace leakgate::test {

struct GatedRun {
  CommandResult command;
  nlohmann::json report;  // null if none was written

  // The window of `kind` named `name`; null if there is none. `iteration` from 1.
  nlohmann::json Window(const std::string& kind, const std::string& name, int iteration = 1) const;
  nlohmann::json Test(const std::string& name, int iteration = 1) const {
    return Window("test", name, iteration);
  }
};

// `leakgate run --report json=... OPTIONS -- PROGRAM`, by the default policy or
// that of the options.
GatedRun RunByDefault(const std::vector<std::string>& program,
                      const std::vector<std::string>& options = {},
                      const CommandOptions& command_options = {});

// The same under tests/fixtures/literal.leakgate.json, so that each test is held to
// 0 bytes at its end, once. Options with budgets of their own stand alone.
GatedRun RunGated(const std::vector<std::string>& program,
                  const std::vector<std::string>& options = {},
                  const CommandOptions& command_options = {});

// The same two, but each such run is made once in a process, and all tests that only look at its
// result share it.
const GatedRun& SharedRunByDefault(const std::vector<std::string>& program,
                                   const std::vector<std::string>& options = {},
                                   const std::vector<std::string>& environment = {});
const GatedRun& SharedGatedRun(const std::vector<std::string>& program,
                               const std::vector<std::string>& options = {},
                               const std::vector<std::string>& environment = {});
// The next tests make them again. What was returned is gone.
void ForgetSharedRuns();

// `leakgate ARGUMENTS`.
CommandResult Leakgate(std::vector<std::string> arguments, const CommandOptions& options = {});

// The names of all report formats, as leakgate lists them where it does not know one.
const std::vector<std::string>& ReportFormats();

// The path of a fixture binary, or of leakgate itself.
std::string FixturePath(const std::string& name);
std::string LeakgatePath();

}  // namespace leakgate::test
