// The time limit of a run (--timeout), which covers all that the run does, on any thread:
//
//   begin ........... limit ........... + 10 s ............. + 20 s
//     CheckTime passes  | it throws, but  | it throws on the  | the process ends with exit code 3,
//                       | for the thread  | thread that con-  | whatever it waits for
//                       | that concludes  | cludes, too       |
//
// Loops whose length depends on the program under test call CheckTime. The caller that asked for
// the work catches TimeIsUp, and reports what was not done. If no limit is set, nothing is ever
// thrown.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>

namespace leakgate {

class TimeIsUp : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "the run's timeout was reached";
  }
};

// Sets the limit, once in the life of the process, and starts a thread that ends the process 20
// seconds after the limit. That thread removes partial files (base/signal_end.h), and writes to
// standard error that it ends the process. Throws std::system_error if the thread cannot be
// started.
void LimitTime(std::chrono::steady_clock::time_point end);

// Any thread may call these.
[[nodiscard]] bool IsTimeUp();
// Throws TimeIsUp once this thread's time is up.
void CheckTime();

// Gives this thread ten seconds more, in which it concludes from what was found.
void TakeTimeToConclude();

// Calls CheckTime from time to time in a loop of many small steps.
class TimeCheck {
 public:
  void Step() {
    constexpr std::size_t kBetween = 16'384;
    if (++steps_ % kBetween == 0) CheckTime();
  }

 private:
  std::size_t steps_ = 0;
};

}  // namespace leakgate
