// Measuring windows: a few lines of the program's own code, and what they leave behind
// (leakgate/window.h). Any number may be open, nested or overlapping, on any threads. They change
// nothing about the windows of tests: blocks are charged to those as before.
//
// If nothing is outstanding, the counters show this, and no system call is made. Otherwise the
// runner is asked: it knows which blocks are the framework's own, and which the code allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "plugin/agent/threads/recording.h"
#include "plugin/agent/windows/mailbox.h"

namespace leakgate::agent {

enum class MeasuredThreads { kAll, kThis };

struct MeasuringStart {
  std::string_view name;
  std::string_view file;  // may be empty
  std::uint32_t line = 0;
  MeasuredThreads threads = MeasuredThreads::kAll;
};

// Forgets all, so that windows that were opened before are not measured. Called before tracing
// starts into a new region.
void RestartMeasuringWindows();

// Returns the window's handle. If there is no room, counts a drop and returns 0: then the window is
// not measured.
std::uint32_t OpenMeasuringWindow(Recording recording, const MeasuringStart& start);

// Returns what was allocated while the window was open, and is still live now. Returns nothing if
// it is not measured: it was never open, something was dropped meanwhile, or the runner has died.
std::optional<Amount> Measure(Recording recording, std::uint32_t handle, const TextRoom& room);

// Ends the window, and returns the same for its end. If nothing is outstanding, the handle may be
// used for another window from now on. Returns nothing for a window that is not open.
std::optional<Amount> EndMeasuringWindow(Recording recording, std::uint32_t handle,
                                         const TextRoom& room);

}  // namespace leakgate::agent
