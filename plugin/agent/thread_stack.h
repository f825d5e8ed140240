// The stacks of threads, told with the mappings. The C library maps them by a call that
// nobody sees, and keeps those of ended threads for the next: so a stack counts from
// the thread's creation to its end, and no longer.
//
//   creator   AddStackOf                       failed: ForgetStackOf
//   thread    TakeStack          EndStack, in the last destructor
//
// Not those that the program provides itself, which it has mapped or allocated.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "plugin/agent/recorder.h"

namespace leakgate::agent {

// For a thread created with `attributes` (may be nullptr) at `stack`. 0: nothing to tell.
[[nodiscard]] std::uint32_t AddStackOf(Recording recording, const pthread_attr_t* attributes,
                                       std::uint32_t stack);
void ForgetStackOf(Recording recording, std::uint32_t mapping);

// By the new thread. `mapping` may be 0.
void TakeStack(std::uint32_t mapping);
// By the same, as it ends.
void EndStack();

}  // namespace leakgate::agent
