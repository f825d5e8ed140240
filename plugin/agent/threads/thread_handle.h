// What a thread knows of itself without a look-up: what it is doing, and where its state is
// (thread_state.h). Each thread has one in its own memory (thread_locals.h).
#pragma once

#include <cstdint>

namespace leakgate::agent {

// What a thread is doing, as far as it matters to the agent.
enum class Activity : std::uint8_t {
  kUnknown,    // it has no state yet
  kHost,       // it runs the host's own code: allocations are recorded
  kUnsettled,  // the same, but windows wait to be settled first (windows.h)
  kAllocator,  // it is inside the host's allocator, whose calls of itself are not recorded
  kRecording,  // it is inside the agent: an allocation comes from a signal handler, and is a drop
};

struct ThreadState;

// `state` is set unless the activity is kUnknown. `ready` is the state while the activity is kHost,
// and otherwise nullptr: so one load is enough for the hot path. The hot path itself only clears
// `ready` while it records, so kHost without `ready` means recording, too.
struct ThreadHandle {
  ThreadState* ready = nullptr;
  ThreadState* state = nullptr;
  Activity activity = Activity::kUnknown;
  Activity before_allocator = Activity::kUnknown;  // that of the outermost call of the allocator
  std::uint16_t allocator_calls = 0;               // in which the thread is, one in the other

  bool IsRecording() const {
    return activity == Activity::kRecording || (activity == Activity::kHost && ready == nullptr);
  }
  void SetActivity(Activity now) {
    activity = now;
    ready = now == Activity::kHost ? state : nullptr;
  }

  // The activity is kAllocator between the two.
  void EnterAllocator() {
    if (allocator_calls++ != 0) return;
    before_allocator = activity;
    SetActivity(Activity::kAllocator);
  }
  void LeaveAllocator() {
    if (--allocator_calls == 0) SetActivity(before_allocator);
  }
};

}  // namespace leakgate::agent
