// What the agent keeps for each thread: its counters' shard, its caches, and
// the guard against recording while recording.
//
// Made at a thread's first traced allocation, from private memory of the
// agent's own; given back when the thread ends (a thread-specific key's
// destructor, in the last round of destructors) and taken over by a later one.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/agent/region.h"
#include "plugin/agent/stack_table.h"
#include "plugin/agent/unwind/stack_memo.h"
#include "plugin/agent/unwind/stack_walker.h"
#include "plugin/agent/visibility.h"

namespace leakgate::agent {

// What a thread is doing, as far as the agent minds.
enum class Activity : std::uint8_t {
  kUnknown,    // no state yet
  kHost,       // the host's own code: allocations are recorded
  kUnsettled,  // the same, but windows wait to be settled first (windows.h)
  kAllocator,  // inside the host's allocator, which may call itself: not recorded
  kRecording,  // inside the agent: an allocation here is a signal handler's, and a drop
};

struct ThreadState {
  std::uint32_t thread = 0;          // its id in the region
  std::uint32_t opening_window = 0;  // begun, but not yet counted from (windows.h)
  std::uint32_t closing_window = 0;  // ended, but not yet judged
  std::uint32_t destructor_rounds = 0;
  CounterShard* shard = nullptr;
  ThreadState* next_free = nullptr;
  StackMemo memo;
  StackWalker walker;
  StackTrail trail;
};

// A thread's own: what it is doing, and its state unless that is kUnknown.
struct ThreadHandle {
  Activity activity = Activity::kUnknown;
  ThreadState* state = nullptr;
};
extern LEAKGATE_INTERNAL thread_local constinit ThreadHandle t_thread;

// Makes this thread's state if it has none; false, with a drop, if there is no
// memory. REQUIRES: tracing is on.
[[nodiscard]] bool EnsureThread();

// Call once, before tracing starts. False if the C library has no key left.
[[nodiscard]] bool StartThreads();

}  // namespace leakgate::agent
