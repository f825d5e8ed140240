#include "runner/session/linux/run_members.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "common/control_protocol.h"
#include "runner/session/linux/process_tree.h"

namespace leakgate {
namespace {

bool HasEnded(int pid) {
  constexpr int kNoSignal = 0;
  return ::kill(pid, kNoSignal) != 0 && errno == ESRCH;
}

}  // namespace

bool IsOfThisRun(const ControlPeer& peer, const std::string& control_name) {
  if (IsBelow(peer.pid, ::getpid())) return true;
  if (peer.uid != ::geteuid()) return false;
  return CarriesMark(peer.pid, fmt::format("{}={}", kControlVariable, control_name)) ||
         HasEnded(peer.pid);
}

}  // namespace leakgate
