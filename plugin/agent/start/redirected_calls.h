// Redirects the slots of calls that would bypass the agent (linux/call_slots.h).
//
// If the agent was loaded into a running process, no calls lead to its functions by themselves. So
// the slots of all modules are redirected, and those of modules that are loaded later, too. If the
// agent was loaded first, this is needed only for modules that are opened with RTLD_DEEPBIND.
#pragma once

#include "plugin/agent/linux/call_slots.h"

namespace leakgate::agent {

// Redirects all modules' calls of the interposed functions to the agent, or back to the host. May
// be called on any thread while others run. REQUIRES: the agent was loaded late.
RedirectedSlots RedirectInterposed(Redirect to);

// Redirects the calls of modules that were loaded by dlopen to the agent, if they bypass it. If
// another thread does the same at the moment, only reports that modules were skipped. REQUIRES: the
// agent was loaded first, and the host's functions are resolved.
RedirectedSlots RedirectDeeplyBound();

// Returns the agent's function of this name that allocates or frees; nullptr if there is none.
[[nodiscard]] void* AgentsFunction(const char* name);

// Returns the agent's function of the malloc family with this name; nullptr if there is none.
[[nodiscard]] void* AgentsMalloc(const char* name);

}  // namespace leakgate::agent
