// Asks the runner, to judge or to measure a window mostly, and waits for its answer: two
// futexes in the region, no descriptor. Called on any thread; one question at a time, so
// that others wait for their turn.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/region_layout.h"

namespace leakgate::agent {

struct RunnerVerdict {
  bool is_over_budget = false;
  std::uint32_t line = 0;
  std::string_view file;  // both live until the next question about a window's verdict
  std::string_view text;
};

struct RunnerQuestion {
  Question question;
  std::uint32_t window;
  std::uint32_t iteration;  // of --gtest_repeat, from 1
};

// Returns an empty verdict if the runner has died: it reports nothing then, so
// nothing passes by it. REQUIRES: on the thread that runs the tests.
RunnerVerdict AskRunner(const RunnerQuestion& asked);

// Where an answer's text goes, NUL-terminated; what is too long for it is cut.
struct TextRoom {
  char* text = nullptr;
  std::uint32_t capacity = 0;  // the NUL included; 0: no text is wanted
};

struct Amount {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

// What a measuring window has outstanding. None: it could not be told.
std::optional<Amount> AskToMeasure(Question question, std::uint32_t measuring_window,
                                   const TextRoom& room);

enum class Answered { kNo, kYes, kWithError };

// Has the runner take a snapshot of this process, and writes it to `path`, which means what
// it means to the process itself (linux/new_file.h). Where it fails, `room` says why.
Answered SaveSnapshot(const char* path, const TextRoom& room);

}  // namespace leakgate::agent
