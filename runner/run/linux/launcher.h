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
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/run/linux/inherited_state.h"

namespace leakgate {

// The runner's own standard streams, or none at all.
enum class Streams { kInherited, kNone };

struct LaunchRequest {
  std::filesystem::path program;  // to execute
  std::string name;               // argv[0]
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // NAME=VALUE, complete
  sigset_t signal_mask;                  // to begin with
  InheritedState inherited;              // likewise
  Streams streams = Streams::kInherited;
};

// How a program ended: one of the two is set.
struct ProgramStatus {
  std::optional<int> exit_code;
  std::optional<int> signal;
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

  // The file that the kernel executes: for a script, its interpreter. Empty if
  // the file may not be read.
  std::filesystem::path image() const;

  // Lets it run. From then on its parent only waits for it.
  [[nodiscard]] Expected<void> Resume();

  // How the resumed process has ended, if it has. Does not wait.
  [[nodiscard]] std::optional<ProgramStatus> Poll();

  // Whether a signal has stopped it, as of the last Poll.
  bool is_stopped() const { return is_stopped_; }

 private:
  explicit SuspendedProcess(int pid) : pid_(pid) {}

  int pid_;
  bool is_resumed_ = false;
  bool is_stopped_ = false;
};

}  // namespace leakgate
