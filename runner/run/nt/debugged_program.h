// A program that this thread has launched as its debugger: so the modules that it loads are known
// while they are loaded, and it can be held where it is about to end, before it destroys its static
// objects.
//
//   Resume             the program runs. It is not told that it has a debugger
//   WaitUntil   kHeld  it has called exit, or what does the same, for the first time; all of its
//                      threads stand still until WaitUntil is called again
//               kEnded it has gone
//               kTime  it still runs at the deadline
//
// It is held by a breakpoint on `exit` and its like in the C runtimes that are libraries. Of one
// that is linked into the program nothing is known: then the program is not held.
//
// What the program starts is debugged, too, so that each image is known, and let go at its end.
//
// All functions are called on the thread that launched it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/region_layout.h"
#include "runner/base/nt/win32.h"
#include "runner/etw/traced_modules.h"
#include "runner/run/launcher.h"

namespace leakgate {

class PeFile;

class DebuggedProgram {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Stop { kHeld, kEnded, kTime };

  // REQUIRES: `process` was launched with Debugged::kYes, has not been resumed, and outlives this
  // object.
  explicit DebuggedProgram(SuspendedProcess& process) : process_(process) {}

  [[nodiscard]] Expected<void> Resume();
  [[nodiscard]] Stop WaitUntil(std::optional<Clock::time_point> deadline);

  // The thread that is about to end the held program.
  int held_thread() const { return held_thread_; }
  // How it has ended. REQUIRES: WaitUntil returned kEnded.
  [[nodiscard]] ProgramEnd end() const;
  // Times are of the performance counter, as those of events are.
  const TracedModules& modules() const { return modules_; }
  // The images of all processes that it has started, and those have started.
  const std::vector<std::string>& started() const { return started_; }

 private:
  struct Breakpoint {
    std::uint8_t original = 0;
    bool is_set = false;
    bool is_of_system = false;  // where Windows itself ends a process in order
  };
  struct Answer {
    DWORD status = DBG_CONTINUE;
    std::optional<Stop> stop = {};
  };

  HANDLE handle() const { return HandleOf(process_.process()); }
  Answer OnEvent(const DEBUG_EVENT& event);
  Answer OnEventOfStarted(const DEBUG_EVENT& event);
  void LetStartedGo();
  Answer OnException(const DEBUG_EVENT& event);
  Answer OnBreakpoint(std::uint64_t address, DWORD thread);
  void OnModule(void* base, HANDLE file);
  void SetBreakpoints(std::uint64_t base, const std::string& name, const PeFile& image);
  void SetBreakpoint(std::uint64_t address, bool is_of_system);
  void RemoveBreakpoints();
  bool StepBack(DWORD thread, std::uint64_t address) const;
  void ForgetDeadRegisters(DWORD thread) const;

  SuspendedProcess& process_;
  TracedModules modules_;
  std::vector<std::string> started_;
  std::unordered_map<DWORD, bool> running_;  // of those, by PID: whether they have begun
  std::unordered_map<std::uint64_t, Breakpoint> breakpoints_;  // by address
  std::optional<DEBUG_EVENT> pending_;                         // the program waits for its answer
  DWORD pending_status_ = DBG_CONTINUE;
  std::uint64_t system_begin_ = 0;  // of ntdll
  std::uint64_t system_end_ = 0;
  int held_thread_ = 0;
  bool has_begun_ = false;    // the system's own breakpoint has been passed
  bool has_program_ = false;  // its module is known
  bool program_has_exit_ = false;
  bool was_held_ = false;
  bool has_ended_in_order_ = false;
  bool has_gone_ = false;
};

}  // namespace leakgate
