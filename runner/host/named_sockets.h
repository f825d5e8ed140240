// The names of the abstract sockets on which runs and session owners listen (message_socket.h).
//
// A run's socket is named after its PID and a random number. No name says which processes a run
// traces, so a command asks all runs at once. A name contains a user and a PID; the kernel says
// whether they are true, so sockets of other users and of other PID namespaces are skipped.
//
// A session's socket is named after the session, so there cannot be two sessions of one name. Where
// another user has taken the name, the socket's name has a random part as well: nobody can keep a
// name from this user.
#pragma once

#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/host/message_socket.h"

namespace leakgate {

// Returns a listening socket for this process, which is a run; an empty one on failure.
[[nodiscard]] UniqueFd ListenAsRun();

struct RunSocket {
  int run_pid = 0;
  std::string name;
  bool is_ancestor = false;  // of the process that is looked for
};

// Returns the sockets of this user's runs. Runs that `pid` descends from come first, because they
// are likely to trace it.
[[nodiscard]] std::vector<RunSocket> FindRuns(int pid = 0);

// Connects to the run with that PID. Returns an empty descriptor if it has ended, or if another
// process has taken its name.
[[nodiscard]] UniqueFd ConnectToRun(int run_pid);

// "the run with PID 4711".
[[nodiscard]] std::string NameOfRun(int run_pid);

inline constexpr char kSessionOwner[] = "the session's owner";

// Returns a usage error unless `name` has 1 to 64 characters, all of them letters, digits, '.', '_'
// or '-'.
[[nodiscard]] Expected<void> CheckSessionName(const std::string& name);

// Listens under the session's name. Returns a usage error if this user has a session of the name.
// This and the functions below take half a second longer where something holds the name and lets
// nobody connect. This and ConnectToSession REQUIRE that CheckSessionName accepts the name.
[[nodiscard]] Expected<UniqueFd> ListenAsSession(const std::string& name);

// Connects to the session's owner. Returns a usage error if this user has no such session.
[[nodiscard]] Expected<UniqueFd> ConnectToSession(const std::string& name);

// Returns whether this user has a session of that name.
[[nodiscard]] bool IsSessionName(const std::string& name);

struct SessionSocket {
  std::string name;    // the session's
  std::string socket;  // the socket's
};

// Returns what look like this user's sessions, sorted by name. Other users may have chosen such
// names, too; a connection shows whose a session is.
[[nodiscard]] std::vector<SessionSocket> FindSessions();

}  // namespace leakgate
