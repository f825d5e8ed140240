// Launches a program suspended: it is stopped at exec, before its first instruction.
//
// Boost.Process starts the program. The child asks to be traced, so the kernel stops it at exec.
// Only the thread that launched the program may wait for the stop and resume it. The program
// inherits the runner's descriptors, except those marked close-on-exec, and dies with the runner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/result/run_result.h"
#include "runner/run/scratch_copy.h"

namespace leakgate {

// The state that the runner inherited and has to change for itself while it runs. The program
// starts with what was inherited, as if leakgate were not there.
//
//                           the runner's own            why
//   SIGCHLD                 default                     if ignored, it could not wait for a child
//   SIGPIPE, SIGXFSZ        ignored                     a lost report must not end the run
//   RLIMIT_FSIZE, _AS       as high as allowed          the region is large, though sparse
//   RLIMIT_NOFILE           at least 1024, if allowed   files are read for symbols
//   descriptors 0 to 2      /dev/null where closed      the runner's files must not take their
//   place
class InheritedState {
 public:
  // Saves what was inherited and changes this process. Called on the main thread before anything
  // else happens.
  [[nodiscard]] static InheritedState Take();

  // Gives this process, a fork of the runner, what was inherited. Called between fork and exec.
  // Descriptors that were closed close at exec. Async-signal-safe.
  void Restore() const noexcept;

  // The inherited limit of the address space in bytes; nullopt if there is no limit.
  [[nodiscard]] std::optional<std::uint64_t> AddressSpaceLimit() const;

 private:
  InheritedState() = default;

  struct Saved;
  std::shared_ptr<const Saved> saved_;
};

// The signals that a program begins with blocked, in the system's own form.
struct SignalMask {
  static constexpr std::size_t kBytes = 128;  // of sigset_t in glibc, the largest that we know

  alignas(std::uint64_t) std::array<std::byte, kBytes> bits{};
};

// The program's standard streams: the runner's own, or none.
enum class Streams { kInherited, kNone };

// The program's process group: the runner's, which the terminal reaches, or one of its own.
enum class ProcessGroup { kInherited, kOwn };

// Whether the launching thread is told of what the program does, and all that it starts, as their
// debugger. Windows only.
enum class Debugged { kNo, kYes };

struct LaunchRequest {
  std::filesystem::path program;  // the file to execute
  std::string name;               // argv[0]
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // complete, as NAME=VALUE
  SignalMask signal_mask;                // the program begins with it
  InheritedState inherited;              // likewise
  Streams streams = Streams::kInherited;
  ProcessGroup group = ProcessGroup::kInherited;
  Debugged debugged = Debugged::kNo;
  // If null, or if the system refuses it, it is the runner's.
  const ScratchCopy* working_directory = nullptr;
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

  // The file that the kernel executes; for a script, this is its interpreter. It is empty if the
  // file may not be read.
  std::filesystem::path image() const;

  // Lets the process run. From then on the runner only waits for it.
  [[nodiscard]] Expected<void> Resume();

  // Returns how the resumed process has ended, if it has. Does not wait.
  [[nodiscard]] std::optional<ProgramExit> Poll();

  // Whether a signal had stopped the process at the last Poll.
  bool is_stopped() const { return is_stopped_; }

  // The process and the thread that is to be resumed, where the system has handles for them (nt);
  // otherwise empty.
  const UniqueFd& process() const { return process_; }
  const UniqueFd& thread() const { return thread_; }

 private:
  explicit SuspendedProcess(int pid) : pid_(pid) {}

  int pid_;
  UniqueFd process_;
  UniqueFd thread_;
  bool is_resumed_ = false;
  bool is_stopped_ = false;
};

}  // namespace leakgate
