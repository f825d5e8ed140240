// The steps by which a process that runs is enabled and disabled (attach.h), each of them a
// call of the agent's at a safe point.
//
// On a thread of its own, which ends afterwards, with WaitLock held.
// REQUIRES: RequireAttachable.
#pragma once

#include "runner/attach/attach.h"
#include "runner/base/expected.h"

namespace leakgate {

[[nodiscard]] Expected<Attachment> EnableOn(const EnableRequest& request);
[[nodiscard]] Expected<void> DisableOn(int pid);

}  // namespace leakgate
