// Launches a program suspended: stopped at exec, before its first instruction.
//
// Boost.Process starts it; the child asks to be traced, so the kernel stops it
// at exec. Only the thread that launched may wait for the stop and resume. The
// program inherits the runner's descriptors (but for those marked close-on-exec)
// and dies with the runner.
#pragma once

#include <signal.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runner/util/expected.h"

namespace leakgate {

struct LaunchRequest {
  std::filesystem::path program;  // to execute
  std::string name;               // argv[0]
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // NAME=VALUE, complete
  sigset_t signal_mask;                  // to begin with
};

// How a program ended: one of the two is set.
struct ProgramStatus {
  bool has_exited = false;
  int exit_code = 0;
  int signal = 0;
};

class SuspendedProcess {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<SuspendedProcess>> Launch(
      const LaunchRequest& request);

  // Kills the process if it has not been resumed.
  ~SuspendedProcess();
  SuspendedProcess(const SuspendedProcess&) = delete;
  SuspendedProcess& operator=(const SuspendedProcess&) = delete;

  int pid() const { return pid_; }

  // The file that the kernel executes: for a script, its interpreter.
  std::filesystem::path image() const;

  // Lets it run. From then on its parent only waits for it.
  [[nodiscard]] Expected<void> Resume();

  // True, with `status` filled, if the resumed process has ended. Does not wait.
  [[nodiscard]] bool HasEnded(ProgramStatus& status) const;

 private:
  explicit SuspendedProcess(int pid) : pid_(pid) {}

  int pid_;
  bool is_resumed_ = false;
};

}  // namespace leakgate
