// Leads functions of the program's own executable to the agent: those of an allocator, and those
// that budget files name (common/entry_hooks.h).
#pragma once

namespace leakgate::agent {

// Does it if the region says so, and has the host's functions be those that the executable had.
// Returns false if its code cannot be changed. REQUIRES: the region is mapped, the host's functions
// are resolved, and no other thread runs.
[[nodiscard]] bool HookEntries();

// Returns the agent's function for one that only some allocators have, `name`, which it calls as
// `host` from now on; nullptr if there is none. Defined where those functions are
// (interpose/interpose_allocators.cpp).
[[nodiscard]] void* HookAllocatorCall(const char* name, void* host);
// Returns the code by which hooks come to the agent's functions (arch/*/hooked_entry.h). Defined
// there, too.
[[nodiscard]] void* CodeThatEnters();

}  // namespace leakgate::agent
