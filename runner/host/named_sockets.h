// Where the commands meet a run, and a session's owner. Both listen on abstract sockets, on which
// messages go to and fro (message_socket.h).
//
// A run's socket is named by its PID and a random number. Which run traces a process is not in a
// name: all runs are asked at once, and the process's ancestors first if they take longer. A name
// says whose the socket is, and the kernel whether that is true, so one of another user's, or of
// another PID namespace's, is passed over.
//
// A session's socket is named by the session's name, so two sessions of one name cannot be.
#pragma once

#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/host/message_socket.h"

namespace leakgate {

// Returns a listening socket of this process's own; an empty one if none can be had.
[[nodiscard]] UniqueFd ListenAsRun();

struct RunSocket {
  int run_pid = 0;
  std::string name;
  bool is_ancestor = false;  // of the process that was asked for
};

// Finds the sockets of this user's runs; those of runs that `pid` descends from come first, since
// they are likely to trace it.
[[nodiscard]] std::vector<RunSocket> FindRuns(int pid = 0);

// Connects to the run with that PID; empty if it has ended, or is not what it says.
[[nodiscard]] UniqueFd ConnectToRun(int run_pid);

// "the run with PID 4711".
[[nodiscard]] std::string NameOfRun(int run_pid);

inline constexpr char kSessionOwner[] = "the session's owner";

// A usage error if `name` is not made of letters, digits, '.', '_' and '-', 64 at most.
[[nodiscard]] Expected<void> CheckSessionName(const std::string& name);

// Takes the name; a usage error if a session has it. REQUIRES: CheckSessionName, as
// ConnectToSession does.
[[nodiscard]] Expected<UniqueFd> ListenAsSession(const std::string& name);

// Connects to the session's owner; a usage error if there is no such session.
[[nodiscard]] Expected<UniqueFd> ConnectToSession(const std::string& name);

// Whether somebody has taken the name.
[[nodiscard]] bool IsSessionName(const std::string& name);

// The names that this user's sessions may have, sorted. Others may have chosen such names, too:
// whose one is becomes known once it is connected to.
[[nodiscard]] std::vector<std::string> SessionNames();
// The name of the session's socket.
[[nodiscard]] std::string SessionSocketName(const std::string& name);

}  // namespace leakgate
