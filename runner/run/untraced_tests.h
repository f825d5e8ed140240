// Notices test binaries that the program under test starts as other processes, if the program is
// not a test binary itself: `timeout 10 my_tests`, a shell script, ctest. Their tests are not
// gated, so the run must not pass.
//
// As with the child processes that budget files name (named_processes.h), two sources report them:
// the binary's own agent, which asks to be traced, and, if it has none, the agent of the process
// that starts it.
//
// OnHello and OnExec are called on the control server's thread, Doubts on the main thread once the
// server has stopped.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/host/control_server.h"

namespace leakgate {

class UntracedTests {
 public:
  // Called when the program under test starts or executes another image. From now on the processes
  // that it starts are noticed, unless it is a test binary. Returns whether they are.
  [[nodiscard]] bool Watch(int program);

  // Called for a process that is not traced and not the program under test.
  void OnHello(const ControlPeer& peer);
  void OnExec(const ReportedExec& told);

  // Called where nothing more is known of a process that was started than its image.
  void NoteStarted(const std::string& path);

  // Called for a process that had ended before anything of it could be read.
  void NoteUnknown() { has_unknown_ = has_unknown_ || is_watching_; }

  // Returns a line for each test binary, and for all that may have been one.
  [[nodiscard]] std::vector<std::string> Doubts() const;

 private:
  struct ProgramFile {
    bool is_test_binary = false;
    bool is_refused = false;  // true if no agent can start in it
  };
  // Inspects each file once.
  const ProgramFile& Inspect(const std::string& path);

  bool is_watching_ = false;
  bool has_unknown_ = false;
  int pid_ = 0;                                  // the program under test
  std::string program_;                          // its image
  std::map<std::string, ProgramFile> known_;     // by path
  std::map<std::string, std::string> untraced_;  // from a test binary's path to its starter's image
  std::map<int, std::string> without_agent_;     // from PID to path, as the starter reported
};

}  // namespace leakgate
