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
#include "plugin/agent/mailbox.h"
#include "plugin/agent/recorder.h"

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
std::uint32_t OpenWindow(const WindowStart& start);

// Closes `window`, which becomes its parent's again, and has it judged if
// anything is outstanding. A window that is not open is left alone.
RunnerVerdict CloseWindow(Recording recording, std::uint32_t window, TestResult result);

// For boundaries that are told while their teller still holds memory of its own,
// which it frees before it does anything else: what is counted at the boundary
// waits for SettleWindows, which the thread's next allocation or boundary brings
// about.
void OpenWindowUnsettled(Recording recording, std::uint32_t window);
void CloseWindowUnsettled(Recording recording, std::uint32_t window, TestResult result);

// Marks the thread if windows wait to be settled. Call last, once recording is over.
void NoteUnsettled();
// Settles what waits; nothing most times.
void SettleWindows(Recording recording);

}  // namespace leakgate::agent
