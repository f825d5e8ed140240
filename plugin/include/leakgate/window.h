// Measures what a few lines of code leave behind, for the test itself to judge. For C++14 and
// later, with any test framework or none. You need to link nothing, except the dynamic linker's
// library if dlsym is not in the C library.
//
//   leakgate::Window window("load config");
//   Load("app.conf");
//   EXPECT_EQ(window.Outstanding(), leakgate::Nothing());    // names the call sites
//   EXPECT_EQ(window.Outstanding().blocks, 0);               // or by number
//
// A window changes no verdict: allocations in it are charged to the test as usual. Nothing is
// measured if nothing is traced (without leakgate, or in a fork child), or if something could not
// be recorded. Then all amounts are 0, and is_measured is false.
#ifndef LEAKGATE_WINDOW_H_
#define LEAKGATE_WINDOW_H_

#include <ostream>

#include "leakgate/measuring_agent.h"

namespace leakgate {
// What a window has outstanding, without what GoogleTest, gmock or the C library have allocated for
// themselves, and without what a ScopedAllowance allows. It is a plain value, which owns no memory.
struct Measurement {
  bool is_measured;
  long long bytes;
  long long blocks;
  char call_sites[4096];  // text for people, the largest first; empty if there is nothing
};

// For comparisons. What could not be measured is equal to it, too.
inline Measurement Nothing() { return Measurement(); }

inline bool operator==(const Measurement& a, const Measurement& b) {
  return a.bytes == b.bytes && a.blocks == b.blocks;
}
inline bool operator!=(const Measurement& a, const Measurement& b) { return !(a == b); }

// Writes "64 B in 1 block", and the call sites.
inline std::ostream& operator<<(std::ostream& out, const Measurement& measurement) {
  if (measurement.blocks == 0) return out << "nothing";
  out << measurement.bytes << " B in " << measurement.blocks
      << (measurement.blocks == 1 ? " block" : " blocks");
  if (measurement.call_sites[0] != '\0') out << '\n' << measurement.call_sites;
  return out;
}

// Whose allocations count: every thread's, or those of the thread that opens the window.
enum class WindowThreads { kAll, kThis };

// Windows may be nested, may overlap, and may end on another thread than the one on which they
// began. Only one thread at a time may use the object.
class Window {
 public:
  explicit Window(const char* name, const char* file = __builtin_FILE(),
                  unsigned line = __builtin_LINE())
      : Window(name, WindowThreads::kAll, file, line) {}
  Window(const char* name, WindowThreads threads, const char* file = __builtin_FILE(),
         unsigned line = __builtin_LINE()) {
    const LeakgateAgent* const agent = internal::MeasuringAgent();
    if (agent == nullptr) return;
    const LeakgateMeasuringWindow window = {name, file, line,
                                            threads == WindowThreads::kThis ? 1 : 0};
    id_ = agent->open_measuring_window(&window);
    state_ = id_ == 0 ? State::kNotMeasured : State::kOpen;
  }
  ~Window() {
    if (state_ != State::kOpen) return;
    LeakgateMeasurement ended = {0, 0, 0, nullptr, 0};
    internal::MeasuringAgent()->end_measuring_window(id_, &ended);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Returns what was allocated since the window was opened, and before its end, and is still live
  // now. Other threads that hold some of it get a moment to free it.
  Measurement Outstanding() const {
    if (state_ == State::kEmpty) return Measured();
    if (state_ == State::kNotMeasured) return Nothing();
    return Ask(internal::MeasuringAgent()->measure);
  }

  // Ends the window, and returns what it has outstanding then. If it has ended before, returns what
  // is still live.
  Measurement End() {
    if (state_ != State::kOpen) return Outstanding();
    const Measurement measurement = Ask(internal::MeasuringAgent()->end_measuring_window);
    state_ = !measurement.is_measured  ? State::kNotMeasured
             : measurement.blocks == 0 ? State::kEmpty
                                       : State::kEnded;
    return measurement;
  }

 private:
  // kEmpty means that it has ended and left nothing behind.
  enum class State { kNotMeasured, kOpen, kEnded, kEmpty };

  static Measurement Measured() {
    Measurement measurement = Nothing();
    measurement.is_measured = true;
    return measurement;
  }

  Measurement Ask(void (*ask)(unsigned, LeakgateMeasurement*)) const {
    Measurement measurement = Nothing();
    LeakgateMeasurement answer = {0, 0, 0, measurement.call_sites, sizeof(measurement.call_sites)};
    ask(id_, &answer);
    measurement.is_measured = answer.is_measured != 0;
    measurement.bytes = answer.bytes;
    measurement.blocks = answer.blocks;
    return measurement;
  }

  unsigned id_ = 0;
  State state_ = State::kNotMeasured;
};

}  // namespace leakgate

#endif  // LEAKGATE_WINDOW_H_
