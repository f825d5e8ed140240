// `leakgate session start|list|stop` on Windows: has Windows trace the heaps of programs by their
// image's name, and puts the registry back.
#pragma once

#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"
#include "runner/heap_tracing/flag_journal.h"

namespace leakgate {

struct ImageSessionStartCommand {
  std::string name;
  std::vector<TracedImage> images;
};

struct ImageSessionListCommand {
  OutputForm output = OutputForm::kText;
};

struct ImageSessionStopCommand {
  std::string name;
  bool is_forced = false;  // also puts back what somebody else has changed meanwhile
};

void Declare(ImageSessionStartCommand& command, OptionList& options);
void Declare(ImageSessionListCommand& command, OptionList& options);
void Declare(ImageSessionStopCommand& command, OptionList& options);

[[nodiscard]] Expected<void> Complete(ImageSessionStartCommand& command,
                                      const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(ImageSessionListCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(ImageSessionStopCommand& command, const ProgramLine& program);

// Defined for Windows alone. The last two return 3 if something could not be put back.
[[nodiscard]] Expected<int> Execute(const ImageSessionStartCommand& command);
[[nodiscard]] Expected<int> Execute(const ImageSessionListCommand& command);
[[nodiscard]] Expected<int> Execute(const ImageSessionStopCommand& command);

// What is set, by whom and since when. Pure.
[[nodiscard]] std::string FlagListText(const FlagSurvey& survey);
[[nodiscard]] std::string FlagListJson(const FlagSurvey& survey);

// Reads the name of a session: letters, digits, '.', '_' and '-', 64 at most.
[[nodiscard]] Expected<std::string> ParseImageSessionName(const std::string& option,
                                                          const std::string& text);

}  // namespace leakgate
