// Sends the runner notices of the programs that this process executes, if budget files name child
// processes. So the runner knows even of a child that starts without the agent.
//
// Used by fork and vfork children as well, which may share the parent's memory. So all but the
// window is written once, at start-up, and nothing is kept of a notice.
#pragma once

#include <cstdint>

#include "common/control_protocol.h"
#include "plugin/agent/exec/exec_file.h"

namespace leakgate::agent {

// Begins to send a notice of each program that is executed. `control` names the runner's socket.
// `window` is the window of the program under test in which this process was started.
void StartExecNotices(const char* control, std::uint32_t window);

// Sets which window of the program under test is current. A fork child keeps its parent's, even if
// it has windows of its own.
void NoteWindowForExecs(std::uint32_t window);
[[nodiscard]] std::uint32_t WindowForExecs();
// From now on, this process's windows do not count as windows of the program under test.
void KeepWindowForExecs();

[[nodiscard]] bool NotifiesExecs();

// Notifies the runner that `pid`, or this process if that is 0, executes `file`. REQUIRES:
// NotifiesExecs.
void NotifyExec(ExecEvent event, const ExecFile& file, int pid = 0);

}  // namespace leakgate::agent
