#include "runner/cli/progress_option.h"

#include <fmt/format.h>

#include "runner/cli/value_words.h"

namespace leakgate {

void AddProgressOption(CLI::App& app, std::optional<std::string>& raw) {
  app.add_option("--progress", raw,
                 "Where to show how far it is: in a bar (the terminal's last row), in lines (one "
                 "each 30 seconds), none, or auto (default): a bar where only leakgate writes to "
                 "the terminal, lines in a log")
      ->type_name("HOW");
}

Expected<ProgressMode> ParseProgress(const std::optional<std::string>& raw) {
  if (!raw || *raw == "auto") return ProgressMode::kAuto;
  if (*raw == "bar") return ProgressMode::kBar;
  if (*raw == "lines") return ProgressMode::kLines;
  if (*raw == "none") return ProgressMode::kNone;
  return UsageError(fmt::format("--progress '{}': no such way; write --progress={}", *raw,
                                OneOf(MeaningOf("HOW").choices)));
}

}  // namespace leakgate
