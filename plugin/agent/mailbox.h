// Asks the runner, to judge a window mostly, and waits for its answer: two futexes
// in the region, no descriptor. Called on the thread that runs the tests, one
// question at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/region_layout.h"

namespace leakgate::agent {

struct RunnerVerdict {
  bool is_over_budget = false;
  std::uint32_t line = 0;
  std::string_view file;  // both live until the next question
  std::string_view text;
};

struct RunnerQuestion {
  Question question;
  std::uint32_t window;
  std::uint32_t iteration;  // of --gtest_repeat, from 1
};

// Returns an empty verdict if the runner has died: it reports nothing then, so
// nothing passes by it.
RunnerVerdict AskRunner(const RunnerQuestion& asked);

}  // namespace leakgate::agent
