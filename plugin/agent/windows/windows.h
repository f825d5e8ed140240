// Windows: where a test, a suite and the program begin and end. One is current
// at a time, the innermost; what is allocated while it is current, on whatever
// thread, is charged to it.
//
// Called on the thread that runs the tests. A window's end makes no system
// call when nothing is outstanding; else the runner is asked, and waited for,
// so that the live map is read just as the test left it.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/region_layout.h"
#include "plugin/agent/threads/recording.h"
#include "plugin/agent/windows/mailbox.h"

namespace leakgate::agent {

struct WindowStart {
  WindowKind kind;
  std::string_view name;
  std::string_view file;  // may be empty
  std::uint32_t line = 0;
  std::uint32_t iteration = 1;
};

// What is allocated from now on is charged to `window`.
void SetCurrentWindow(std::uint32_t window);

// Opens a window in the current one; its id, or 0, with a drop, if there is no room.
// AnnounceWindow is to follow.
std::uint32_t OpenWindow(const WindowStart& start);

// Tells the runner, if it has asked to be told, that a test begins; waits for it.
// Call once all is as the test will find it.
void AnnounceWindow(std::uint32_t window);

// Closes `window`, which becomes its parent's again, and has it judged if
// anything is outstanding. A window that is not open is left alone.
RunnerVerdict CloseWindow(Recording recording, std::uint32_t window, TestResult result);

// All tear-down of an iteration of --gtest_repeat is done: tells the runner, if it
// has asked to be told, and waits for it.
void EndIteration(Recording recording, std::uint32_t iteration);

// For boundaries that are told while their teller still holds memory of its own,
// which it frees before it does anything else: what is counted at the boundary
// waits for SettleWindows, which the thread's next allocation or boundary brings
// about.
void OpenWindowUnsettled(Recording recording, std::uint32_t window);
void CloseWindowUnsettled(Recording recording, std::uint32_t window, TestResult result);
void EndIterationUnsettled(Recording recording, std::uint32_t iteration);

// A child that a budget file names is about to end in order: has the runner look at what
// is lost, before static destructors take away what leads to it. Nothing elsewhere, nor a
// second time, nor in a vfork child. REQUIRES: tracing.
void AnnounceProcessEnd();

// Marks the thread if windows wait to be settled. Call last, once recording is over.
void NoteUnsettled();
// Settles what waits; nothing most times.
void SettleWindows(Recording recording);
// The same, for a process about to end, which may never allocate again.
void SettleBeforeEnd();

}  // namespace leakgate::agent
