// `leakgate record`: records each allocation of a program, of its life from beginning to end. And
// `leakgate recording pause`, `continue` and `stop`, by which other shells steer that.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"
#include "runner/cli/profiler/recording_buffers.h"
#include "runner/profiling/recorded_run.h"

namespace leakgate {

// Records the program behind the dashes, or a process that runs.
struct RecordCommand {
  RecordRequest request;
  std::optional<int> pid;
  std::optional<std::chrono::milliseconds> length;  // of a recording of `pid`
  bool replaces = false;                            // --force
  GivenBuffers buffers;
  bool is_quiet = false;
};

enum class RecordingSwitch { kPause, kContinue, kStop };

template <RecordingSwitch kSwitch>
struct RecordingSwitchCommand {
  std::optional<int> pid;  // there must be one
};

void Declare(RecordCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(RecordCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(RecordCommand command);

void DeclareSwitch(std::optional<int>& pid, OptionList& options);
[[nodiscard]] Expected<void> CompleteSwitch(const std::optional<int>& pid,
                                            const ProgramLine& program);
[[nodiscard]] Expected<int> SwitchRecording(int pid, RecordingSwitch to);

template <RecordingSwitch kSwitch>
void Declare(RecordingSwitchCommand<kSwitch>& command, OptionList& options) {
  DeclareSwitch(command.pid, options);
}
template <RecordingSwitch kSwitch>
[[nodiscard]] Expected<void> Complete(RecordingSwitchCommand<kSwitch>& command,
                                      const ProgramLine& program) {
  return CompleteSwitch(command.pid, program);
}
template <RecordingSwitch kSwitch>
[[nodiscard]] Expected<int> Execute(const RecordingSwitchCommand<kSwitch>& command) {
  return SwitchRecording(*command.pid, kSwitch);
}

// Makes the directory if it is not there. Returns its absolute path.
[[nodiscard]] Expected<std::filesystem::path> MakeRecordingDirectory(
    const std::filesystem::path& directory);

// Tells what a recording has, what it misses, and how to look at it. Pure.
[[nodiscard]] std::string RecordedText(const RecordedFile& file);

}  // namespace leakgate
