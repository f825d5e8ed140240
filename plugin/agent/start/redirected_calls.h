// The calls of a process that the agent was loaded into while it ran. Nothing leads to the agent's
// functions there by itself, so the slots of all modules are redirected (linux/call_slots.h), and
// those of modules that are loaded later, too.
#pragma once

#include "plugin/agent/linux/call_slots.h"

namespace leakgate::agent {

// Leads all modules' calls of the interposed functions to the agent, or back to the host. May be
// called on any thread while others run.
RedirectedSlots RedirectInterposed(Redirect to);

// Leads lookups that would pass the agent by to it (linux/symbol_values.h), in a process that has
// begun with the agent. REQUIRES: the host's functions are resolved; what the dynamic linker
// allocates meanwhile is not the program's.
void LeadLookupsToAgent();

}  // namespace leakgate::agent
