// The two events by which a traced process and the runner wake each other
// (common/nt_agent_block.h). Each mailbox that is served has a pair, of which the process is handed
// duplicates.
#pragma once

#include <memory>

#include "common/region_layout.h"
#include "runner/base/descriptors.h"

namespace leakgate {

struct MailboxEvents {
  UniqueFd ask;    // set by the process: there is a question
  UniqueFd reply;  // set by the runner: it is answered
};

// Returns the events of the mailbox that is served for the process; nullptr if there is none. Any
// thread may call it.
[[nodiscard]] std::shared_ptr<const MailboxEvents> MailboxEventsOf(int pid);

}  // namespace leakgate
