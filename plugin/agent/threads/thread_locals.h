// What each thread has in its own memory: thread-local variables. Where the compiler would allocate
// these, as GCC does for Windows, they are in memory of the agent's own, to which a slot leads that
// the system has in each thread (nt/thread_slot.h).
#pragma once

#include <cstdint>

#include "common/system.h"
#include "plugin/agent/base/visibility.h"
#include "plugin/agent/threads/thread_handle.h"
#include "plugin/agent/unwind/stack_memo.h"

namespace leakgate::agent {

// What is rarely asked for.
struct ThreadFacts {
  // The thread's id in the region, kept until its very end, and the span to which that belongs.
  std::uint32_t id = 0;
  std::uint32_t span = 0;
  FirstFrame first_frame{};
};

}  // namespace leakgate::agent

#include LEAKGATE_AGENT(thread_locals)
