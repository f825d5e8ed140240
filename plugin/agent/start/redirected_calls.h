// The calls of a process that the agent was loaded into while it ran. Nothing leads to the agent's
// functions there by itself, so the slots of all modules are redirected (linux/call_slots.h), and
// those of modules that are loaded later, too.
#pragma once

#include "plugin/agent/linux/call_slots.h"

namespace leakgate::agent {

// Leads all modules' calls of the interposed functions to the agent, or back to the host. May be
// called on any thread while others run.
RedirectedSlots RedirectInterposed(Redirect to);

}  // namespace leakgate::agent
