// The functions of particular allocators (jemalloc's mallocx, tcmalloc's tc_free_sized and their
// like), and those that free by size (C23). They are not exported: programs ask by a weak symbol
// whether their allocator has them. Where the allocator that provides malloc does, the slots of the
// modules are redirected (linux/call_slots.h), as soon as the program's modules are loaded.
#pragma once

namespace leakgate::agent {

// Redirects all modules' calls of such functions to the agent. REQUIRES: the modules are loaded and
// relocated; tracing is on.
void RedirectAllocatorCalls();

}  // namespace leakgate::agent
