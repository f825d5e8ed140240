// Windows: where a test, a suite and the program begin and end. One is current at a time, the
// innermost. What is allocated while it is current, on whatever thread, is charged to it.
//
// Called on the thread that runs the tests. The end of a window makes no system call if nothing is
// outstanding. Else the runner is asked and waited for, so that the live map is read just as the
// test has left it.
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

// Charges what is allocated from now on to `window`.
void SetCurrentWindow(std::uint32_t window);

// Opens a window in the current one, and returns its id. Counts a drop and returns 0 if there is no
// room. AnnounceWindow is to follow.
std::uint32_t OpenWindow(const WindowStart& start);

// Tells the runner that a test begins, if it has asked to be told, and waits for it. To be called
// when all is as the test will find it.
void AnnounceWindow(std::uint32_t window);

// Closes `window`, so that its parent is current again, and has it judged if anything is
// outstanding. Does nothing if the window is not open.
RunnerVerdict CloseWindow(Recording recording, std::uint32_t window, TestResult result);

// Tells the runner that all tear-down of an iteration of --gtest_repeat is done, if it has asked to
// be told, and waits for it.
void EndIteration(Recording recording, std::uint32_t iteration);

// The same where the one that tells of a boundary still holds memory of its own, which it frees
// before it does anything else. What is to be counted at the boundary waits for SettleWindows,
// which is called at once where that memory could be taken out of the live map, and else by the
// thread's next allocation, recorded free or boundary.
void OpenWindowUnsettled(Recording recording, std::uint32_t window);
void CloseWindowUnsettled(Recording recording, std::uint32_t window, TestResult result);
void EndIterationUnsettled(Recording recording, std::uint32_t iteration);

// Has the runner look at what is lost as the process is about to end in order, before static
// destructors take away what leads to the blocks. Does nothing where the runner has not asked for
// it, in a vfork child, and when called again. REQUIRES: tracing.
void AnnounceProcessEnd();
// The same once they have run.
void AnnounceEndOfDestructors();
// From now on, the two before do nothing in this process.
void AskNothingAtProcessEnd();

// Whether a test runs. A fork child finds what held as it was forked.
[[nodiscard]] bool IsInTest();
// In a fork child, before it is traced: nothing has been asked there yet.
void BeginForkChild();
[[nodiscard]] bool IsForkChild();

// Returns true once, where the runner has asked for a leak to be planted and a test runs.
bool TakePlantingOfLeak();

// Marks the thread if windows wait to be settled. To be called last, when recording is over.
void NoteUnsettled();
// Settles what waits, which is nothing most of the time.
void SettleWindows(Recording recording);
// The same in a process that is about to end, and may never allocate again.
void SettleBeforeEnd();

}  // namespace leakgate::agent
