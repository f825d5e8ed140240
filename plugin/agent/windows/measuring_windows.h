// Measuring windows: a few lines of the program's own code, and what they leave behind
// (leakgate/window.h). Any number may be open, nested or overlapping, on any threads. They
// change nothing about the windows of tests, which blocks are charged to as before.
//
// Where nothing is outstanding, the counters know, and no system call is made; else the
// runner is asked: it tells the framework's own and what the code allows apart.
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

// Forgets all: what was opened before is not measured. Before tracing starts, into a region
// that is new.
void RestartMeasuringWindows();

// Its handle, or 0, with a drop, if there is no room: it is not measured.
std::uint32_t OpenMeasuringWindow(Recording recording, const MeasuringStart& start);

// What was allocated while it was open, and is still live now. None: it is not measured,
// since it was never open, something was dropped meanwhile, or the runner has died.
std::optional<Amount> Measure(Recording recording, std::uint32_t handle, const TextRoom& room);

// Likewise, at its end, which is now. Nothing outstanding: the handle may be another's from
// now on. None for one that is not open.
std::optional<Amount> EndMeasuringWindow(Recording recording, std::uint32_t handle,
                                         const TextRoom& room);

}  // namespace leakgate::agent
