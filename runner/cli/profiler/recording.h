// `leakgate recording show`, `diff` and `export`, which read recordings.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"
#include "runner/cli/profiler/stack_reading.h"
#include "runner/recording/view/export_recording.h"
#include "runner/recording/view/recording_diff.h"
#include "runner/recording/view/recording_time.h"
#include "runner/recording/view/show_recording.h"

namespace leakgate {

// Which part of a recording is read, and which blocks of it.
struct RecordingReading {
  StackReading stacks{};
  std::optional<RecordingTime> from{};
  std::optional<RecordingTime> to{};
  std::optional<std::string> test{};  // instead of both
  NumberRange size_bytes{};
  NumberRange lifetime_ns{};
};

struct RecordingShowCommand {
  std::vector<std::filesystem::path> files;  // one
  RecordingReading reading;
  std::optional<RecordingTime> at;  // what was live then, instead of what happened
  ShowRecordingOptions options;
  OutputForm output = OutputForm::kText;
};

struct RecordingDiffCommand {
  std::vector<std::filesystem::path> files;  // two: the earlier, and the later one
  RecordingReading reading;                  // without budgets
  RecordingDiffOptions options;
  OutputForm output = OutputForm::kText;
};

struct RecordingExportCommand {
  std::vector<std::filesystem::path> files;  // one
  RecordingReading reading;
  std::optional<RecordingTime> at;
  std::optional<RecordingFormat> format;  // there must be one
  std::optional<Weigh> weigh;
  std::filesystem::path output;       // empty: standard output
  std::filesystem::path source_root;  // a page quotes sources below it; empty: it quotes none
};

void Declare(RecordingShowCommand& command, OptionList& options);
void Declare(RecordingDiffCommand& command, OptionList& options);
void Declare(RecordingExportCommand& command, OptionList& options);

[[nodiscard]] Expected<void> Complete(RecordingShowCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(RecordingDiffCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(RecordingExportCommand& command, const ProgramLine& program);

[[nodiscard]] Expected<int> Execute(const RecordingShowCommand& command);
[[nodiscard]] Expected<int> Execute(const RecordingDiffCommand& command);
[[nodiscard]] Expected<int> Execute(const RecordingExportCommand& command);

// Reads "1KiB..1MiB", "100..", "..4096" or "64"; and "10us..1s", "1s..", "..500ns".
[[nodiscard]] Expected<NumberRange> ParseSizes(const std::string& option, const std::string& text);
[[nodiscard]] Expected<NumberRange> ParseLifetimes(const std::string& option,
                                                   const std::string& text);

}  // namespace leakgate
