#include "runner/host/control_server.h"

#include <fmt/format.h>

#include "runner/process/process_tree.h"

namespace leakgate {

// Nobody connects: the runner hands a process its region while that is suspended, so there is
// neither a socket nor a thread.
Expected<std::unique_ptr<ControlServer>> ControlServer::Start(ControlHandlers handlers) {
  std::unique_ptr<ControlServer> server(new ControlServer);
  server->name_ = fmt::format("{}{}", kControlPrefix, OwnPid());
  server->handlers_ = std::move(handlers);
  return server;
}

ControlServer::~ControlServer() = default;

bool IsThisUser(unsigned uid) { return uid == EffectiveUser(); }

bool IsControlName(const std::string&) { return false; }

bool IsOfThisRun(const ControlPeer& peer, const std::string&) {
  return IsBelow(peer.pid, OwnPid());
}

}  // namespace leakgate
