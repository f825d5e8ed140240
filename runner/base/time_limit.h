// The time that a run may take (--timeout), for all that it does, on whatever thread:
//
//   begin ........... limit ........... + 10 s ............. + 20 s
//     CheckTime passes  | it throws, but  | it throws on the  | the process ends with exit code 3,
//                       | for the thread  | thread that con-  | whatever it waits for
//                       | that concludes  | cludes, too       |
//
// Loops that may be long, because the program decides how long they are, call CheckTime. Whoever
// asked for the work catches TimeIsUp, and tells what was not done. Where no limit is set, nothing
// is ever thrown.
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
// seconds after it. That removes partial files (base/signal_end.h), and says so on standard error.
// Throws std::system_error if there can be no thread.
void LimitTime(std::chrono::steady_clock::time_point end);

// Any thread may call these.
[[nodiscard]] bool IsTimeUp();
// Throws TimeIsUp once this thread's time is up.
void CheckTime();

// From now on this thread has ten seconds more: it concludes what was found.
void TakeTimeToConclude();

// Calls CheckTime now and then in a loop of many small steps.
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
