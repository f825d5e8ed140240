// Leads the functions of an allocator in the program's own executable to the agent
// (common/entry_hooks.h).
#pragma once

namespace leakgate::agent {

// Does it if the region says so, and has the host's functions be those that the executable had.
// Returns false if its code cannot be changed. REQUIRES: the region is mapped, the host's functions
// are resolved, and no other thread runs.
[[nodiscard]] bool HookEntries();

}  // namespace leakgate::agent
