#include "runner/cli/commands/record.h"

#include <fmt/format.h>

#include "runner/cli/commands/run.h"
#include "runner/cli/installation.h"
#include "runner/cli/terminal.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

constexpr std::uint32_t kDefaultBufferBytes = 64 * 1024;
constexpr std::uint32_t kDefaultBuffers = 128;
constexpr std::uint64_t kPageBytes = 4096;

const Choices<WhenFull> kWhenFull = {
    "WHAT", "way", "--when-full={}", {{"wait", WhenFull::kWait}, {"lose", WhenFull::kLose}}};

// Reads "64K", "1M" or a number of bytes.
Expected<std::uint32_t> ParseBufferBytes(const std::string& option, const std::string& text) {
  std::size_t used = 0;
  std::uint64_t bytes = 0;
  try {
    bytes = std::stoull(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  const std::string unit = text.substr(used);
  if (unit == "K" || unit == "KiB") bytes *= 1024;
  if (unit == "M" || unit == "MiB") bytes *= 1024 * 1024;
  const bool is_unit = unit.empty() || unit == "K" || unit == "KiB" || unit == "M" || unit == "MiB";
  if (used == 0 || text.front() == '-' || !is_unit || bytes < kPageBytes ||
      bytes > kMostBufferBytes) {
    return UsageError(
        fmt::format("{} '{}': write a size from 4K to 1M, such as 64K", option, text));
  }
  return static_cast<std::uint32_t>((bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
}

Expected<std::uint32_t> ParseBuffers(const std::string& option, const std::string& text) {
  const Expected<std::uint64_t> count = ParseCount(option, text);
  if (!count) return Unexpected(count.error());
  if (*count <= kMaxEventBuffers) return static_cast<std::uint32_t>(*count);
  return UsageError(fmt::format("{} '{}': write at most {}", option, text, kMaxEventBuffers));
}

std::string RecordedText(const RecordedFile& file) {
  const RecordingClosing& closing = file.closing;
  const std::string path = Printable(file.path.string());
  std::string text = fmt::format("leakgate: {}: {} in {}", path,
                                 FormatCount(static_cast<std::int64_t>(closing.events), "event"),
                                 FormatDuration(std::chrono::nanoseconds(closing.end_ns)));
  if (closing.waits != 0) {
    text += fmt::format("; threads waited {} for a buffer",
                        FormatDuration(std::chrono::nanoseconds(closing.waited_ns)));
  }
  text += "\n";
  for (const std::string& sentence : closing.missing) {
    text += fmt::format("  incomplete: {}\n", sentence);
  }
  return text + fmt::format("  look at it:  leakgate recording show {}\n", path);
}

int ExitCodeOf(const RecordOutcome& outcome) {
  if (outcome.program.ShellCode() != 0) return outcome.program.ShellCode();
  return outcome.problems.empty() ? kExitPass : static_cast<int>(ExitCode::kInconclusive);
}

}  // namespace

void Declare(RecordCommand& command, OptionList& options) {
  RecordRequest& request = command.request;
  options.Add("-o,--output", FileWord("FILE"), request.output,
              "The file to write, which can be read from the beginning on");
  options.AddFlag("--force", command.replaces, "Replace FILE if it is there already");
  options.Add("--buffer-size", TextWord("SIZE"), request.buffer_bytes, ParseBufferBytes,
              "How large one buffer for events is, 4K to 1M. Default: 64K");
  options.Add("--buffers", TextWord("N"), request.buffer_count, ParseBuffers,
              fmt::format("How many buffers there are. Default: {}", kDefaultBuffers));
  options.AddChoice("--when-full", kWhenFull, command.when_full,
                    "What a thread does when all buffers are full: wait (default: nothing is lost) "
                    "or lose (the program never waits; what is lost is counted)");
  AddStacks(command.stack_events, options);
  options.Add("--stack-depth", TextWord("FRAMES"), request.stack_depth, ParseStackDepth,
              fmt::format("Record at most so many frames of a stack, 1 to {}. Default: {}",
                          kMaxStackDepth, kDefaultStackDepth));
  options.AddFlag("-q,--quiet", command.is_quiet, "Print nothing but what is missing");
}

Expected<void> Complete(RecordCommand& command, const ProgramLine& program) {
  if (program.empty() || program.front().empty()) {
    return UsageError(
        "no program to record; write it after two dashes: leakgate record -o FILE -- PROGRAM");
  }
  RecordRequest& request = command.request;
  request.program = program.front();
  request.arguments.assign(program.begin() + 1, program.end());
  if (request.output.empty()) {
    return UsageError("no file for the recording; name it: leakgate record -o FILE -- PROGRAM");
  }
  if (request.buffer_bytes == 0) request.buffer_bytes = kDefaultBufferBytes;
  if (request.buffer_count == 0) request.buffer_count = kDefaultBuffers;
  if (std::uint64_t{request.buffer_bytes} * request.buffer_count > kMaxEventBytes) {
    return UsageError(
        fmt::format("--buffers {} of {} are more than {}; ask for fewer, or smaller "
                    "ones",
                    request.buffer_count, FormatBytes(request.buffer_bytes),
                    FormatBytes(static_cast<std::int64_t>(kMaxEventBytes))));
  }
  request.existing =
      command.replaces ? AtomicFile::Existing::kReplaced : AtomicFile::Existing::kRefused;
  request.when_full = command.when_full.value_or(WhenFull::kWait);
  request.stack_events = command.stack_events.value_or(kDefaultStackEvents);
  return {};
}

Expected<int> Execute(RecordCommand command) {
  command.request.agent = FindAgent();
  const Expected<RecordOutcome> outcome = Record(command.request);
  if (!outcome) return Unexpected(outcome.error());
  for (const RecordedFile& file : outcome->files) {
    if (!command.is_quiet || !file.closing.missing.empty()) Print(stderr, RecordedText(file));
  }
  for (const std::string& problem : outcome->problems) PrintMessage(problem);
  return ExitCodeOf(*outcome);
}

}  // namespace leakgate
