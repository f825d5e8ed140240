// Where the commands and a run meet: an abstract socket for each `leakgate run`, by its PID
// and a random number. What is said there: message_socket.h.
//
// Which run traces a process is not in a name: all runs are asked at once, and the process's
// ancestors first if they take longer. A name says whose the socket is, and the kernel whether
// that is true, so one of another user's, or of another PID namespace's, is passed over.
#pragma once

#include <string>
#include <vector>

#include "runner/named_session/linux/message_socket.h"

namespace leakgate {

// A listening socket of this process's own; none if there is none to be had.
[[nodiscard]] UniqueFd ListenAsRun();

struct RunSocket {
  int run_pid = 0;
  std::string name;
  bool is_ancestor = false;  // of the process that was asked for
};

// Of this user's runs; those that `pid` descends from, who are likely to trace it, come first.
[[nodiscard]] std::vector<RunSocket> FindRuns(int pid = 0);

// To the run with that PID; none: it has ended, or is not what it says.
[[nodiscard]] UniqueFd ConnectToRun(int run_pid);

// "the run with PID 4711".
[[nodiscard]] std::string NameOfRun(int run_pid);

}  // namespace leakgate
