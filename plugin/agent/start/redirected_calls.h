// Calls that would pass the agent by: the slots that they go through are redirected
// (linux/call_slots.h).
//
// Where the agent was loaded into a running process, nothing leads to its functions by itself. So
// the slots of all modules are redirected, and those of modules that are loaded later, too. Where
// the agent came first, that is so only of modules that are opened with RTLD_DEEPBIND.
#pragma once

#include "plugin/agent/linux/call_slots.h"

namespace leakgate::agent {

// Leads all modules' calls of the interposed functions to the agent, or back to the host. May be
// called on any thread while others run. REQUIRES: the agent was loaded late.
RedirectedSlots RedirectInterposed(Redirect to);

// Leads the calls of modules that were loaded by dlopen to the agent, where they lead past it. Does
// nothing but tell that modules were skipped if another thread does the same just now. REQUIRES:
// the agent came first, and the host's functions are resolved.
RedirectedSlots RedirectDeeplyBound();

// Returns the agent's function of malloc's family that is named so; nullptr if there is none.
[[nodiscard]] void* AgentsMalloc(const char* name);

}  // namespace leakgate::agent
