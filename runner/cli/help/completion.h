// Scripts that have a shell complete leakgate's command line: commands, options, their
// values, and behind two dashes whatever the program's own completion offers. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/cli/help/command_page.h"

namespace leakgate {

[[nodiscard]] std::string BashCompletion(const std::vector<CommandPage>& pages);
[[nodiscard]] std::string ZshCompletion(const std::vector<CommandPage>& pages);
[[nodiscard]] std::string FishCompletion(const std::vector<CommandPage>& pages);

// What the three have in common.

// `text` with each `from` as `to`.
[[nodiscard]] std::string Replaced(std::string text, std::string_view from, std::string_view to);

// The first sentence, without its full stop: what fits beside an option.
[[nodiscard]] std::string FirstSentence(const std::string& description);

// "json junit ...".
[[nodiscard]] std::string Spaced(const std::vector<std::string>& words);

// The own words of the command's commands: "run doctor ...".
[[nodiscard]] std::vector<std::string> CommandWords(const CommandPage& page);

// The formats of --report.
[[nodiscard]] std::vector<std::string> ReportFormats(const std::vector<CommandPage>& pages);

}  // namespace leakgate
