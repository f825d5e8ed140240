// What lookups of a function by name find in the module that defines it.
//
// The dynamic linker searches the agent before the C library, so calls lead to the agent by
// themselves. Not so where a search begins elsewhere: in a library opened with RTLD_DEEPBIND, which
// comes before all others there, behind RTLD_NEXT, or in the C library's own handle. So the entries
// of those functions in the defining module's table of symbols, which is this process's own copy,
// are made to say where the agent's functions are:
//
//   libc's .dynsym:  malloc  value = libc's malloc - libc's base     as it was
//                            value = the agent's malloc - libc's base
//
// Calls that have been bound already stay as they are.
#pragma once

#include <span>

#include "plugin/agent/linux/call_slots.h"

namespace leakgate::agent {

// Leads lookups that find the `host` of a function to `ours`. What has no host, or cannot be
// written, stays as it is. REQUIRES: the agent's own functions call the hosts by their addresses.
void LeadLookups(std::span<const Redirection> functions);

}  // namespace leakgate::agent
