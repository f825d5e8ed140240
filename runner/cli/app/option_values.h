// How values of options are read, each from one text. A usage error names `option`, and shows
// what to write. Pure, but for users' names.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runner/base/expected.h"
#include "runner/cli/app/option_list.h"
#include "runner/cli/terminal.h"
#include "runner/sessions/session_image.h"

namespace leakgate {

// How a command prints what it shows: --json.
enum class OutputForm { kText, kJson };

// 1 to kMaxStackDepth frames.
[[nodiscard]] Expected<std::uint32_t> ParseStackDepth(const std::string& option,
                                                      const std::string& text);

// A number above 0. Its message names no option: it may stand behind several.
[[nodiscard]] Expected<int> ParsePid(const std::string& option, const std::string& text);

// A number above 0.
[[nodiscard]] Expected<std::uint64_t> ParseCount(const std::string& option,
                                                 const std::string& text);

// "500ms", "5s", "2min", "1h"; a bare number is of seconds.
[[nodiscard]] Expected<std::chrono::milliseconds> ParseDuration(const std::string& option,
                                                                const std::string& text);

// Seconds above 0, with fractions: "60", "0.5". What is above 0 never becomes 0.
[[nodiscard]] Expected<std::chrono::milliseconds> ParseSeconds(const std::string& option,
                                                               const std::string& text);

// 4 to 127: 1 to 3 have meanings of leakgate's own, and shells tell signals from 128 on.
[[nodiscard]] Expected<int> ParseSkipExitCode(const std::string& option, const std::string& text);

// Whole numbers above 0, of runs.
[[nodiscard]] Expected<std::int64_t> ParseRunCount(const std::string& option,
                                                   const std::string& text);

// --progress, which every command has that can take long.
[[nodiscard]] const Choices<ProgressMode>& ProgressModes();
template <typename Target>
void AddProgress(Target& target, OptionList& options) {
  options.AddChoice("--progress", ProgressModes(), target,
                    "Where to show how far it is: in a bar (the terminal's last row), in lines "
                    "(one each 30 seconds), none, or auto (default): a bar where only leakgate "
                    "writes to the terminal, lines in a log");
}

// Whose stacks are recorded: --stacks, of all commands that start a session.
[[nodiscard]] Expected<std::uint32_t> ParseStacks(const std::string& option,
                                                  const std::string& text);
template <typename Target>
void AddStacks(Target& events, OptionList& options) {
  options.Add("--stacks", TextWord("EVENTS"), events, ParseStacks,
              "The events whose call stacks are recorded, of alloc, realloc and free, with commas. "
              "Blocks are counted without, too. free: who frees, by bytes and blocks. Default: "
              "alloc,realloc");
}

// IMAGE[:ARGUMENT], and the name of a session.
[[nodiscard]] Expected<ImageSelector> ParseImage(const std::string& option,
                                                 const std::string& text);
[[nodiscard]] Expected<std::string> ParseSessionName(const std::string& option,
                                                     const std::string& text);

}  // namespace leakgate
