// The functions that the agent stands in for, with what it calls in their place: for an
// agent that was loaded into a running process, where nothing leads to them by itself.
#pragma once

#include "plugin/agent/linux/call_slots.h"

namespace leakgate::agent {

// Leads all modules' calls of them to the agent, or back. On any thread, while others run.
RedirectedSlots RedirectInterposed(Redirect to);

}  // namespace leakgate::agent
