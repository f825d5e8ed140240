// `leakgate session start|list|stop|unit` on Windows: has Windows trace the heaps of programs by
// their image's name, and puts the registry back.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"
#include "runner/heap_tracing/flag_journal.h"

namespace leakgate {

struct ImageSessionStartCommand {
  std::string name;
  std::vector<FlaggedImage> images;
  Recorder recorder = Recorder::kOthers;
};

struct ImageSessionListCommand {
  OutputForm output = OutputForm::kText;
  // Returns what else there is to list, as text or as a JSON object; if not set, there is nothing.
  std::function<std::string(OutputForm)> others;
};

struct ImageSessionStopCommand {
  std::string name;
  bool is_forced = false;     // also puts back what somebody else has changed meanwhile
  std::filesystem::path etl;  // for what wpr has recorded; empty: it is not kept
};

// Prints the commands by which Windows records from its next start on.
struct ImageSessionUnitCommand {
  std::string name;
  std::vector<FlaggedImage> images;
  std::string etl;  // a whole path
  bool is_undone = false;
};

void Declare(ImageSessionStartCommand& command, OptionList& options);
void Declare(ImageSessionListCommand& command, OptionList& options);
void Declare(ImageSessionStopCommand& command, OptionList& options);
void Declare(ImageSessionUnitCommand& command, OptionList& options);

[[nodiscard]] Expected<void> Complete(ImageSessionStartCommand& command,
                                      const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(ImageSessionListCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(ImageSessionStopCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(ImageSessionUnitCommand& command, const ProgramLine& program);

// Those of the first three are defined for Windows alone. List and stop return 3 if something could
// not be put back.
[[nodiscard]] Expected<int> Execute(const ImageSessionStartCommand& command);
[[nodiscard]] Expected<int> Execute(const ImageSessionListCommand& command);
[[nodiscard]] Expected<int> Execute(const ImageSessionStopCommand& command);
[[nodiscard]] Expected<int> Execute(const ImageSessionUnitCommand& command);

// What is set, by whom and since when. To a JSON object, others' members may be added. Pure.
[[nodiscard]] std::string FlagListText(const FlagSurvey& survey);
[[nodiscard]] std::string FlagListJson(const FlagSurvey& survey, const std::string& others = "{}");

// The commands that `session unit` prints, as a batch file. Pure.
[[nodiscard]] std::string BootCommandsText(const ImageSessionUnitCommand& command);

// Reads the name of a session: letters, digits, '.', '_' and '-', 64 at most.
[[nodiscard]] Expected<std::string> ParseImageSessionName(const std::string& option,
                                                          const std::string& text);

}  // namespace leakgate
