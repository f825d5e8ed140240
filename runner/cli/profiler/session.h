// `leakgate session start|exec|update|query|list|stop`, and the texts that they print
// (`leakgate session unit` is in session_unit.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"
#include "runner/cli/profiler/recording_buffers.h"
#include "runner/cli/profiler/session_ring.h"
#include "runner/process/process_tree.h"
#include "runner/report/style.h"
#include "runner/sessions/session_client.h"
#include "runner/sessions/session_messages.h"
#include "runner/sessions/session_owner.h"

namespace leakgate {

struct SessionStartCommand {
  SessionStart start;
  std::vector<std::string> program;  // to be executed below it; empty: none
  GivenBuffers buffers;
  GivenRing ring;
};

// Executes `program`. The session traces it and what it starts.
struct SessionExecCommand {
  std::string name;
  std::vector<std::string> program;
};

struct SessionUpdateCommand {
  std::string name;
  SessionScope add;
  SessionScope drop;
};

struct SessionQueryCommand {
  std::string name;
  OutputForm output = OutputForm::kText;
};

enum class OrphanCare { kShow, kClear };

struct SessionListCommand {
  OutputForm output = OutputForm::kText;
  OrphanCare orphans = OrphanCare::kShow;  // kClear ends their tracing
};

struct SessionStopCommand {
  std::string name;
  std::filesystem::path output;  // for snapshots of all processes; empty: no snapshots
};

void Declare(SessionStartCommand& command, OptionList& options);
void Declare(SessionExecCommand& command, OptionList& options);
void Declare(SessionUpdateCommand& command, OptionList& options);
void Declare(SessionQueryCommand& command, OptionList& options);
void Declare(SessionListCommand& command, OptionList& options);
void Declare(SessionStopCommand& command, OptionList& options);

[[nodiscard]] Expected<void> Complete(SessionStartCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SessionExecCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SessionUpdateCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SessionQueryCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SessionListCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SessionStopCommand& command, const ProgramLine& program);

// The first two do not return if they execute a program.
[[nodiscard]] Expected<int> Execute(const SessionStartCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionExecCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionUpdateCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionQueryCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionListCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionStopCommand& command);

// Declare --system and --this-user, and check what they come to with `scope`, which they complete.
void DeclareReach(SessionReach& reach, OptionList& options);
[[nodiscard]] Expected<void> CompleteReach(SessionReach reach, SessionScope& scope);

// Says of a process that a signal has stopped how it goes on.
void PrintIfStopped(int pid);

// The functions below return the texts. They are pure.

// Tells that the session runs, and what to do next.
[[nodiscard]] std::string StartedText(const SessionStatus& session);

// Tell what the session traces, and what each process has live.
[[nodiscard]] std::string SessionText(const SessionStatus& session, Colour colour);
[[nodiscard]] std::string SessionJson(const SessionStatus& session);

// List all sessions, the processes that runs trace, and processes whose session's owner has ended.
[[nodiscard]] std::string SessionListText(const std::vector<SessionStatus>& sessions,
                                          const std::vector<RunStatus>& runs,
                                          const std::vector<Orphan>& orphans);
[[nodiscard]] std::string SessionListJson(const std::vector<SessionStatus>& sessions,
                                          const std::vector<RunStatus>& runs,
                                          const std::vector<Orphan>& orphans);

}  // namespace leakgate
