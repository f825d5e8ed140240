// What a thread knows of itself without looking anywhere else: what it is doing, and where its
// state is (thread_state.h). One for each thread, in its thread-local memory.
#pragma once

#include <cstdint>

#include "plugin/agent/base/visibility.h"

namespace leakgate::agent {

// What a thread is doing, as far as the agent minds.
enum class Activity : std::uint8_t {
  kUnknown,    // no state yet
  kHost,       // the host's own code: allocations are recorded
  kUnsettled,  // the same, but windows wait to be settled first (windows.h)
  kAllocator,  // inside the host's allocator, which may call itself: not recorded
  kRecording,  // inside the agent: an allocation here is a signal handler's, and a drop
};

struct ThreadState;

// A thread's own: what it is doing, and its state unless that is kUnknown.
// `ready` is the state while the activity is kHost, else nullptr: one load tells
// the hot path all that it must know. The hot path itself only takes `ready`
// away, so kHost without it means recording.
struct ThreadHandle {
  ThreadState* ready = nullptr;
  ThreadState* state = nullptr;
  Activity activity = Activity::kUnknown;

  bool IsRecording() const {
    return activity == Activity::kRecording || (activity == Activity::kHost && ready == nullptr);
  }
  void Become(Activity now) {
    activity = now;
    ready = now == Activity::kHost ? state : nullptr;
  }
};
extern LEAKGATE_INTERNAL thread_local constinit ThreadHandle t_thread;

}  // namespace leakgate::agent
