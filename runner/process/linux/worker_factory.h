// Makes processes for what may never end: whoever reads a stranger's memory, or walks a path of a
// stranger's, waits as long as that stranger's file system likes, and no signal ends such a wait.
// A process that must not wait has a worker do it, and gives the worker up when it takes too long.
//
//   Fork    by a process that has one thread: makes the factory, a process of its own
//   Start   the factory forks a worker; the caller has its end of a socket at once, and waits for
//           nothing
//   Kill    the factory kills the worker. Its socket is at its end once the kernel has really ended
//           it, which it cannot do before the wait is over
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
  // What a worker does, in its own process, which ends when this returns. The socket is of type
  // SOCK_SEQPACKET.
  using Work = std::function<void(const UniqueFd& socket)>;

  // `name` is what the kernel calls the processes. REQUIRES: this process has one thread.
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
  // Returns nothing if there is no descriptor, or the factory does not take requests. Any thread
  // may call it, one at a time.
  [[nodiscard]] std::optional<Worker> Start();
  void Kill(std::uint64_t number) const;

 private:
  WorkerFactory(UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

  UniqueFd socket_;
  pid_t pid_ = 0;
  std::uint64_t last_number_ = 0;
};

// For a process that was just forked: it begins as if it had been executed, but for its memory. It
// is called `name`, ends when `parent` does, and has no descriptors but 0 to 2, `kept` and
// OwnProcDescriptor().
void ResetForkedProcess(const char* name, const UniqueFd& kept, pid_t parent);

// Returns a pair of connected sockets of type SOCK_SEQPACKET; empty ones if there are none.
[[nodiscard]] std::pair<UniqueFd, UniqueFd> ConnectedSockets();

}  // namespace leakgate
