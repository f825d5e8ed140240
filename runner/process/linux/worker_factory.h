// Makes processes for work that may block for ever. A process that reads another user's memory, or
// walks a path that another user controls, waits as long as that user's file system likes, and no
// signal ends such a wait. So a process that must never block lets a worker do this, and gives the
// worker up when it takes too long.
//
//   Fork    called by a process that has one thread: makes the factory, a process of its own
//   Start   the factory forks a worker. The caller has its end of a socket at once, without waiting
//   Kill    the factory kills the worker. The worker's socket is at its end once the kernel has
//           really ended the worker, which is not before the wait is over
//
// The factory and its workers are killed when the process that made it ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

class WorkerFactory {
 public:
  // The work of a worker, in its own process, which ends when this function returns. The socket is
  // of type SOCK_SEQPACKET.
  using Work = std::function<void(const UniqueFd& socket)>;

  // `name` becomes the name of the processes in the kernel. REQUIRES: this process has one thread.
  [[nodiscard]] static Expected<WorkerFactory> Fork(const char* name, const Work& work);
  ~WorkerFactory();
  WorkerFactory(WorkerFactory&& other) noexcept
      : socket_(std::move(other.socket_)), pid_(std::exchange(other.pid_, 0)) {}
  WorkerFactory& operator=(WorkerFactory&&) = delete;
  WorkerFactory(const WorkerFactory&) = delete;
  WorkerFactory& operator=(const WorkerFactory&) = delete;

  struct Worker {
    UniqueFd socket;
    std::uint64_t number = 0;  // for Kill
  };
  // Returns nothing if there is no descriptor left, or if the factory takes no requests. Any thread
  // may call it, but only one at a time.
  [[nodiscard]] std::optional<Worker> Start();
  void Kill(std::uint64_t number) const;

 private:
  WorkerFactory(UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

  UniqueFd socket_;
  pid_t pid_ = 0;
  std::uint64_t last_number_ = 0;
};

// Resets a process that was just forked to the state after exec, except for its memory. Its name
// becomes `name`, it ends when `parent` ends, and it keeps no descriptors but 0 to 2, `kept` and
// OwnProcDescriptor().
void ResetForkedProcess(const char* name, const UniqueFd& kept, pid_t parent);

// Returns a pair of connected sockets of type SOCK_SEQPACKET; empty ones if there are none.
[[nodiscard]] std::pair<UniqueFd, UniqueFd> ConnectedSockets();

}  // namespace leakgate
