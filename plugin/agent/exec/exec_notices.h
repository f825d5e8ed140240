// What this process executes, told to the runner where budget files name child
// processes: so that one that starts without the agent is known to have been started.
//
// Used from fork and vfork children as well, which may share the parent's memory: all
// is written once, at start-up, but the window, and nothing is kept of a notice.
#pragma once

#include <cstdint>

#include "common/control_protocol.h"
#include "plugin/agent/exec/exec_file.h"

namespace leakgate::agent {

// From now on each program that is executed is told of. `control` is the runner's socket,
// `window` that of the program under test in which this process was started.
void StartExecNotices(const char* control, std::uint32_t window);

// The window of the program under test that is current; a fork child keeps its parent's.
void NoteWindowForExecs(std::uint32_t window);

[[nodiscard]] bool TellsOfExecs();

// `pid` executes `file`; 0: this process does. REQUIRES: TellsOfExecs.
void TellOfExec(ExecEvent event, const ExecFile& file, int pid = 0);

}  // namespace leakgate::agent
