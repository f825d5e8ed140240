#include "runner/run/run_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "runner/host/message_socket.h"
#include "runner/host/named_sockets.h"
#include "runner/process/process_image.h"

namespace leakgate {

std::shared_ptr<RunServer> RunServer::Start(RunProcesses processes) {
  UniqueFd listener = ListenAsRun();
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  if (!listener || !stop) return nullptr;
  return std::shared_ptr<RunServer>(
      new RunServer(std::move(processes), std::move(listener), std::move(stop)));
}

RunServer::~RunServer() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void RunServer::Serve() {
  for (;;) {
    pollfd waits[] = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) return;  // commands get no answers then
    if (waits[0].revents != 0) return;
    if (waits[1].revents == 0) continue;
    try {
      ServeOne();
    } catch (const std::exception&) {
      // There is no memory or no thread: the command sees a closed connection, and the run goes on.
    }
  }
}

void RunServer::ServeOne() {
  const UniqueFd client = AcceptClient(listener_);
  if (!client) return;
  // A silent command must not delay the run's end.
  pollfd waits[] = {{stop_.get(), POLLIN, 0}, {client.get(), POLLIN, 0}};
  ::poll(waits, 2, 1000);
  if (waits[0].revents != 0 || waits[1].revents == 0) return;
  ServeClient(client);
}

Expected<void> RunServer::AwaitRelease(const UniqueFd& client, int pid) const {
  const UniqueFd end = WatchEnd(pid);  // may be empty; the process's end then goes unnoticed
  pollfd waits[] = {
      {client.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}, {end ? end.get() : -1, POLLIN, 0}};
  const std::chrono::milliseconds most = kLongestHold;
  const bool is_over = ::poll(waits, 3, static_cast<int>(most.count())) != 0;
  if (waits[0].revents != 0 || waits[2].revents != 0) return {};
  if (is_over) return HasEnded();
  return HeldTooLong(pid);
}

}  // namespace leakgate
