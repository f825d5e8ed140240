// What the runner was started with and has to change for itself while it runs.
// The program starts with what was inherited, as if leakgate were not there.
//
//                           the runner's own            why
//   SIGCHLD                 default                     ignored, no child could be waited for
//   SIGPIPE, SIGXFSZ        ignored                     a lost report must not end the run
//   RLIMIT_FSIZE, _AS       as high as they may be      the region is large, though sparse
//   RLIMIT_NOFILE           at least 1024, if may be    files are read for symbols
//   descriptors 0 to 2      /dev/null where closed      the runner's files must not take their
//   place
//
// Taken on the main thread before anything else happens; given back in the
// child, between fork and exec.
#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace leakgate {

class InheritedState {
 public:
  // Keeps what was inherited and changes this process.
  [[nodiscard]] static InheritedState Take();

  // Gives this process, a fork of the runner, what was inherited. Descriptors
  // that were closed close at exec. Async-signal-safe.
  void Restore() const noexcept;

 private:
  InheritedState() = default;

  struct sigaction on_child_change_ {};
  struct sigaction on_broken_pipe_ {};
  struct sigaction on_file_limit_ {};
  rlimit file_size_{};
  rlimit address_space_{};
  rlimit descriptors_{};
};

}  // namespace leakgate
