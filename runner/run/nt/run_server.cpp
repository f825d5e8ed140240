#include "runner/run/run_server.h"

#include "runner/base/nt/win32.h"
#include "runner/host/named_sockets.h"
#include "runner/host/nt/message_pipe.h"
#include "runner/process/process_image.h"

namespace leakgate {

std::shared_ptr<RunServer> RunServer::Start(RunProcesses processes) {
  UniqueFd listener = ListenAsRun();
  UniqueFd stop = OwnHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!listener || !stop) return nullptr;
  return std::shared_ptr<RunServer>(
      new RunServer(std::move(processes), std::move(listener), std::move(stop)));
}

RunServer::~RunServer() {
  SetEvent(HandleOf(stop_));
  thread_.join();
}

void RunServer::Serve() {
  while (AwaitClient(listener_, stop_)) {
    try {
      ServeOne();
    } catch (const std::exception&) {
      // There is no memory or no thread: the command sees a closed connection, and the run goes on.
    }
    DismissClient(listener_);
  }
}

// A silent command must not delay the run's end.
void RunServer::ServeOne() {
  constexpr std::chrono::seconds kToAsk(1);
  if (AwaitWord(listener_, stop_, {}, kToAsk) == ClientWait::kClient) ServeClient(listener_);
}

Expected<void> RunServer::AwaitRelease(const UniqueFd& client, int pid) const {
  switch (AwaitWord(client, stop_, WatchEnd(pid), kLongestHold)) {
    case ClientWait::kClient:
    case ClientWait::kEnded:
      return {};
    case ClientWait::kStopped:
      return HasEnded();
    case ClientWait::kTooLong:
      break;
  }
  return HeldTooLong(pid);
}

}  // namespace leakgate
