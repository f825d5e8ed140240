// Windows: where a test, a suite and the program begin and end. One is current at a time, the
// innermost. Everything that any thread allocates while it is current is charged to it.
//
// Called on the thread that runs the tests. The end of a window makes no system call if nothing is
// outstanding. Otherwise the agent asks the runner and waits, so that the live map is read exactly
// as the test has left it.
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

// Begins the tables of a region with their entries 0, which mean none, and opens the window of the
// program. REQUIRES: no thread records.
void StartWindows();

// Opens a window in the current one, and returns its id. Counts a drop and returns 0 if there is no
// room. AnnounceWindow must follow.
std::uint32_t OpenWindow(const WindowStart& start);

// Reports to the runner that a test begins, if it has asked for that, and waits for it. Must be
// called when everything is as the test will find it.
void AnnounceWindow(std::uint32_t window);

// Closes `window`, so that its parent is current again, and has it judged if anything is
// outstanding. Does nothing if the window is not open.
RunnerVerdict CloseWindow(Recording recording, std::uint32_t window, TestResult result);

// Reports to the runner that all tear-down of an iteration of --gtest_repeat is done, if it has
// asked for that, and waits for it.
void EndIteration(Recording recording, std::uint32_t iteration);

// Does the same if the framework that reports a boundary still holds memory of its own, which it
// frees before it does anything else. What is to be counted at the boundary waits for
// SettleWindows. That is called at once if that memory could be taken out of the live map, and
// otherwise by the thread's next allocation, recorded free or boundary.
void OpenWindowUnsettled(Recording recording, std::uint32_t window);
void CloseWindowUnsettled(Recording recording, std::uint32_t window, TestResult result);
void EndIterationUnsettled(Recording recording, std::uint32_t iteration);

// Makes the runner check what is lost when the process is about to end normally, before static
// destructors remove what leads to the blocks. Does nothing if the runner has not asked for it, in
// a vfork child, and when called again. REQUIRES: tracing.
void AnnounceProcessEnd();
// Does the same once they have run.
void AnnounceEndOfDestructors();
// Returns whether the runner wants to be told by AnnounceProcessEnd, and has not been yet.
[[nodiscard]] bool HasMissedProcessEnd();
// From now on, the two functions above do nothing in this process.
void AskNothingAtProcessEnd();

// Returns whether a test is running. A fork child gets the state at the time of the fork.
[[nodiscard]] bool IsInTest();
// In a fork child, before it is traced: nothing has been asked there yet.
void BeginForkChild();
[[nodiscard]] bool IsForkChild();

// Returns true once, if the runner has asked for a planted leak and a test is running.
bool TakePlantingOfLeak();

// Marks the thread if windows wait to be settled. Must be called last, when recording is over.
void NoteUnsettled();
// Settles what waits, mostly nothing.
void SettleWindows(Recording recording);
// Does the same in a process that is about to end, and may never allocate again.
void SettleBeforeEnd();

}  // namespace leakgate::agent
