// Asks the runner, mostly to judge or to measure a window, and waits for its answer. That takes two
// futexes in the region, and no descriptor. May be called on any thread. There is one question at a
// time; other threads wait for their turn.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/operator_probe.h"
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
  std::uint32_t iteration;    // of --gtest_repeat, from 1
  std::uint32_t subject = 0;  // as in the mailbox
};

// Returns an empty verdict if the runner has died: it reports nothing then, so no failure is
// hidden. REQUIRES: this is the thread that runs the tests.
RunnerVerdict AskRunner(const RunnerQuestion& asked);

// For a fork child, which may have inherited the turn of a thread that does not exist there.
void ForgetTurns();

// The buffer for an answer's text. The text ends in NUL, and is cut if it is too long.
struct TextRoom {
  char* text = nullptr;
  std::uint32_t capacity = 0;  // with the NUL; 0 if no text is wanted
};

struct Amount {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

// Returns what a measuring window has outstanding; nothing if that could not be found out.
std::optional<Amount> AskToMeasure(Question question, std::uint32_t measuring_window,
                                   const TextRoom& room);

// Sends the results about operators new and delete, and waits until the runner has used them.
void SendProbedOperators(const ProbedObject* objects, std::uint32_t count);

enum class Answered { kNo, kYes, kWithError };

// Makes the runner take a snapshot of this process, and writes it to `path`, which is resolved as
// the process itself would (linux/new_file.h). On failure, `room` gets the reason.
Answered SaveSnapshot(const char* path, const TextRoom& room);

}  // namespace leakgate::agent
