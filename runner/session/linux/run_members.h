// Who belongs to a run: its program and all that it has started, but for what left its tree
// and hides it.
#pragma once

#include <string>

#include "runner/session/linux/control_server.h"

namespace leakgate {

// Of this process's own run, whose control socket is `control_name`. Another user's process
// only if it is below this one now. One of this user's also if it was started with the name in
// its environment, as daemons are, which have left the tree; or if it has ended since, so that
// its last words are not lost. This user's processes are not kept from posing as a run's:
// they could trace it as well.
[[nodiscard]] bool IsOfThisRun(const ControlPeer& peer, const std::string& control_name);

}  // namespace leakgate
