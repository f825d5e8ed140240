// Test binaries that the program under test starts as processes of their own, where it is
// no test binary itself: `timeout 10 my_tests`, a shell script, ctest. Their tests are not
// gated, so the run must not pass.
//
// As for the child processes that budget files name (named_processes.h), two sources tell:
// the binary's own agent, which asks to be traced, and, where it has none, the agent of
// the process that starts it.
//
// OnHello and OnExec are called on the control server's thread, Doubts on the main one once
// the server has stopped.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/host/control_server.h"

namespace leakgate {

class UntracedTests {
 public:
  // The program under test starts, or executes another image: from now on what it starts
  // counts, unless it is a test binary. True if it counts.
  [[nodiscard]] bool Watch(int program);

  // `pid`, which is not the program under test, is not traced.
  void OnHello(int pid);
  void OnExec(const ReportedExec& told);

  // A line for each test binary.
  [[nodiscard]] std::vector<std::string> Doubts() const;

 private:
  // What is known of a program's file.
  struct Known {
    bool is_test_binary = false;
    bool is_refused = false;  // no agent can start in it
  };
  // By its path; looked at once.
  const Known& Look(const std::string& path);

  bool is_watching_ = false;
  int pid_ = 0;                                  // of the program under test
  std::string program_;                          // its image
  std::map<std::string, Known> known_;           // by path
  std::map<std::string, std::string> untraced_;  // by path: which image started it
  std::map<int, std::string> without_agent_;     // by PID, as its starter told: the path
};

}  // namespace leakgate
