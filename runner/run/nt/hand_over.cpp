#include "runner/run/hand_over.h"

#include <fmt/format.h>

#include "runner/base/nt/win32.h"
#include "runner/host/nt/mailbox_events.h"
#include "runner/run/nt/agent_import.h"

namespace leakgate {

Expected<void> HandOver(ControlServer& server, const SuspendedProcess& process,
                        const std::filesystem::path& agent) {
  const HelloReply reply = server.AnswerFor({.pid = process.pid(), .uid = EffectiveUser()});
  if (reply.region_fd < 0)
    return {};  // it runs untraced, and whoever has no region for it says why
  const auto events = MailboxEventsOf(process.pid());
  if (events == nullptr) {
    return InconclusiveError(
        fmt::format("PID {} cannot be traced: nobody answers its questions", process.pid()));
  }
  return ImportAgent(HandleOf(process.process()),
                     {.region = HandleOf(reply.region_fd),
                      .ask = HandleOf(events->ask),
                      .reply = HandleOf(events->reply)},
                     agent);
}

}  // namespace leakgate
