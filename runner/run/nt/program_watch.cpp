#include "runner/run/program_watch.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "runner/base/nt/console_events.h"
#include "runner/base/nt/win32.h"
#include "runner/run/nt/left_events.h"

namespace leakgate {
namespace {

std::atomic<bool> g_was_left{false};                         // an event to the program
std::atomic<std::chrono::steady_clock::time_point> g_end{};  // of the program

// The console sends these to all of its processes, the program included: it decides what becomes of
// them.
bool LeaveToProgram(unsigned long event) {
  const bool is_for_all = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  if (is_for_all) g_was_left.store(true);
  return is_for_all;
}

// The event that has ended the program may come here only now.
bool LeaveOneToProgram(unsigned long event) {
  constexpr std::chrono::seconds kLongest(1);
  return std::chrono::steady_clock::now() - g_end.load() < kLongest && !g_was_left.load() &&
         LeaveToProgram(event);
}

}  // namespace

bool WasEventLeftToProgram() { return g_was_left.load(); }

BlockedSignals::BlockedSignals() {
  g_was_left.store(false);
  TakeConsoleEvents(LeaveToProgram);
}
BlockedSignals::~BlockedSignals() { TakeConsoleEvents(nullptr); }

std::optional<ReceivedSignal> BlockedSignals::Take(std::chrono::milliseconds patience) const {
  Sleep(static_cast<DWORD>(patience.count()));
  return std::nullopt;
}

OwnEndSignals::OwnEndSignals(std::optional<int>) {
  g_end.store(std::chrono::steady_clock::now());
  TakeConsoleEvents(LeaveOneToProgram);
}
OwnEndSignals::~OwnEndSignals() { TakeConsoleEvents(LeaveToProgram); }

bool AsksToEnd(int) { return false; }

bool EndedByWish(const ProgramExit& program) {
  return program.Exception() == static_cast<std::uint32_t>(STATUS_CONTROL_C_EXIT);
}

GroupWitness::GroupWitness(const SignalMask&) {}
GroupWitness::~GroupWitness() = default;
bool GroupWitness::HasSeen(const ReceivedSignal&) { return true; }

std::optional<ProgramExit> ProgramWatch::WaitUntil(std::optional<Clock::time_point> deadline) {
  for (;;) {
    if (const std::optional<ProgramExit> end = process_.Poll()) return end;
    DWORD patience = INFINITE;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
      if (left <= std::chrono::milliseconds(0)) return std::nullopt;
      patience = static_cast<DWORD>(std::min<std::int64_t>(left.count(), 60'000));
    }
    WaitForSingleObject(HandleOf(process_.process()), patience);
  }
}

std::optional<int> ProgramWatch::TakeLateRequest() { return std::nullopt; }

std::string_view UnseenEndText() {
  return "the program was ended by TerminateProcess, of which its libraries are not told, so what "
         "it "
         "left could not be judged; have it return from main, or call exit";
}

std::string_view NoAgentText() {
  return "the agent did not start in the program, so nothing was traced; run leakgate doctor "
         "--self-test, which tells whether antivirus software or a policy keeps it out";
}

}  // namespace leakgate
