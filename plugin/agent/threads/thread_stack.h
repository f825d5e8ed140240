// The end of a thread's stack among the recorded mappings. The C library maps stacks by a call that
// is not interposed, and keeps those of ended threads for later ones. So a stack counts as mapped
// from its thread's creation (record/thread_start.h) to its thread's end, and no longer.
//
// Stacks that the program provides itself are not included: the program has mapped or allocated
// them.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// Sets where the stack is that was recorded as `mapping` when this thread was created. Called by
// the new thread. `mapping` may be 0: then there is none.
void TakeStack(std::uint32_t mapping);

// Forgets the stack that this thread has taken. Called by the same thread, in its last destructor.
void EndStack();

}  // namespace leakgate::agent
