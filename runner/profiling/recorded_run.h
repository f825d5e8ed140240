// One `leakgate record`: launches a program suspended, records each of its events into a file, and
// judges nothing. If the program executes another one, that gets a file of its own.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/base/atomic_file.h"
#include "runner/base/expected.h"
#include "runner/recording/file/recorded_event.h"
#include "runner/region/event_buffers.h"
#include "runner/result/run_result.h"

namespace leakgate {

struct RecordRequest {
  std::string program;  // as typed: a path, or a name to look up in PATH
  std::vector<std::string> arguments;
  std::filesystem::path output;
  AtomicFile::Existing existing = AtomicFile::Existing::kRefused;
  EventRequest events{};  // without a clock, which is chosen here
  std::uint32_t stack_depth = kDefaultStackDepth;
  std::uint32_t stack_events = kDefaultStackEvents;
  std::filesystem::path agent;  // the agent's library
};

struct RecordOutcome {
  ProgramExit program;
  std::vector<RecordedFile> files;    // in the order of the executed programs
  std::vector<std::string> problems;  // why something was not recorded
};

// Returns a usage error if there is no such program, or the file is there already; an inconclusive
// one if the program cannot be traced.
[[nodiscard]] Expected<RecordOutcome> Record(const RecordRequest& request);

}  // namespace leakgate
