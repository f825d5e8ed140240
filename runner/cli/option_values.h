// Functions that read the value of an option from its text. Usage errors name `option`, and show
// what to write. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/terminal.h"
#include "runner/report/report_format.h"

namespace leakgate {

// The form in which a command prints its result: --json.
enum class OutputForm { kText, kJson };

// Reads a number of frames from 1 to kMaxStackDepth.
[[nodiscard]] Expected<std::uint32_t> ParseStackDepth(const std::string& option,
                                                      const std::string& text);

// Reads a number above 0. Its message names no option, since several take a PID.
[[nodiscard]] Expected<int> ParsePid(const std::string& option, const std::string& text);

// Reads a number above 0.
[[nodiscard]] Expected<std::uint64_t> ParseCount(const std::string& option,
                                                 const std::string& text);

// Reads a number of bytes above 0: "500K", "100M", "2G", or without a unit.
[[nodiscard]] Expected<std::uint64_t> ParseBytes(const std::string& option,
                                                 const std::string& text);

// Reads "500ms", "5s", "2min" or "1h"; a number without a unit is in seconds.
[[nodiscard]] Expected<std::chrono::milliseconds> ParseDuration(const std::string& option,
                                                                const std::string& text);

// Reads seconds above 0, with fractions: "60", "0.5". They are rounded up, so never to 0.
[[nodiscard]] Expected<std::chrono::milliseconds> ParseSeconds(const std::string& option,
                                                               const std::string& text);

// Reads a number from 4 to 127: leakgate itself uses 1 to 3, and shells use 128 and more for
// signals.
[[nodiscard]] Expected<int> ParseOwnExitCode(const std::string& option, const std::string& text);

// Reads a number of runs above 0.
[[nodiscard]] Expected<std::int64_t> ParseRunCount(const std::string& option,
                                                   const std::string& text);

// Declare and read FORMAT=FILE of --report.
[[nodiscard]] OptionValue ReportWord();
[[nodiscard]] Expected<ReportRequest> ParseReport(const std::string& option,
                                                  const std::string& text);

// The choices of --progress, an option of all commands that can take long.
[[nodiscard]] const Choices<ProgressMode>& ProgressModes();
template <typename Target>
void AddProgress(Target& target, OptionList& options) {
  options.AddChoice("--progress", ProgressModes(), target,
                    "Where to show how far it is: in a bar (the terminal's last row), in lines "
                    "(one each 30 seconds), none, or auto (default): a bar where only leakgate "
                    "writes to the terminal, lines in a log");
}

}  // namespace leakgate
