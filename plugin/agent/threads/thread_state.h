// What the agent keeps for each thread: its shard of the counters, its caches, and what is open in
// it.
//
// The record that the runner reads is made when the thread begins. The state is made at a thread's
// first traced allocation, in private memory of the agent's own. When the thread ends
// (thread_end.h), the state becomes free for a later thread.
//
// Tracing may be disabled and enabled again, into another region: each time is a span
// (base/epoch.h). A thread makes its record and its state again when it first calls the agent in a
// new span. Until then the hot path finds that the state's epoch is not the present one.
#pragma once

#include <cstdint>

#include "plugin/agent/base/epoch.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/events/event_writer.h"
#include "plugin/agent/threads/thread_locals.h"
#include "plugin/agent/unwind/stack_memo.h"
#include "plugin/agent/unwind/stack_trail.h"
#include "plugin/agent/unwind/stack_walker.h"

namespace leakgate::agent {

// A context that the thread has made. If the same window, allowance and phase come again, as in a
// loop, no other context is needed.
struct KnownContext {
  std::uint32_t window;
  std::uint32_t allowance;
  std::uint32_t phase;
  std::uint32_t context;  // 0 if there is none
  bool is_static;
};
inline constexpr std::uint32_t kKnownContexts = 64;

// A context that the thread has made of another one, with another allowance.
struct ChangedContext {
  std::uint32_t from;
  std::uint32_t allowance;
  std::uint32_t to;  // 0 if there is none
};

// A local static variable that the thread is initialising, by its guard, and the window that was
// current when that began.
struct BegunStatic {
  const void* guard;
  std::uint32_t window;
};
inline constexpr std::uint32_t kMostBegunStatics = 16;

// A block of the program's, allocated while the thread was in a foreign allocator's function.
struct InnerBlock {
  const void* block;
  std::uint64_t size_bytes;
};
inline constexpr std::uint32_t kMostInnerBlocks = 4;

// `epoch`, `context` and the memo's stacks are from one moment: see Refresh in record/recorder.cpp.
struct ThreadState {
  // Makes the thread's next allocation need another context.
  void ForgetContext() {
    context = 0;
    epoch = 0;
  }

  std::uint64_t epoch = 0;      // as CurrentEpoch
  std::uint32_t context = 0;    // the shard's window and phase, this thread, its allowance
  std::uint32_t thread = 0;     // its id in the region
  std::uint32_t allowance = 0;  // the innermost that is in force
  CounterShard* shard = nullptr;
  StackMemo memo;
  std::uint32_t opening_window = 0;   // begun, but counting for it has not begun yet (windows.h)
  std::uint32_t closing_window = 0;   // ended, but not yet judged
  std::uint32_t ended_iteration = 0;  // whose end has not been reported to the runner
  KnownContext known_contexts[kKnownContexts] = {};
  ChangedContext changed_context = {};
  std::uint32_t ignoring = 0;         // calls of __lsan_disable that no __lsan_enable has ended
  std::uint32_t before_ignoring = 0;  // the allowance before them
  std::uint32_t span = 0;
  const ThreadHandle* owner = nullptr;  // nullptr: the state is free
  ThreadState* next_free = nullptr;
  ThreadState* next = nullptr;  // of all states there are
  // Memory for walking a stack that has no room for it; see recorder.cpp.
  char* walking_stack = nullptr;
  StackWalker walker;
  StackTrail trail;
  EventCursor events;
  InnerBlock inner_blocks[kMostInnerBlocks] = {};  // the last ones
  std::uint32_t inner_block_count = 0;
  std::uint32_t begun_static_count = 0;
  BegunStatic begun_statics[kMostBegunStatics] = {};  // the innermost last
};

// Returns the thread that writes the events. REQUIRES: `state` has a shard.
inline EventThread EventThreadOf(ThreadState& state) {
  return {state.thread, state.events, *state.shard};
}

// Where a thread comes from, as far as is known.
struct ThreadOrigin {
  std::uint32_t span = 0;  // the span to which the rest belongs
  std::uint32_t parent = 0;
  std::uint32_t stack = 0;         // of the call that created it
  std::uint32_t birth_window = 0;  // current when it was made
};

// Registers this thread, which is beginning, and arranges to be called at its end. Threads that do
// not go through here are registered when they first allocate. REQUIRES: tracing is on.
void BeginThread(ThreadOrigin origin);

// Notes the frame that calls main, or this thread's own function: see unwind/stack_memo.h.
void NoteFirstFrame(const FirstFrame& first);

// Makes this thread's state if it has none in this span. Counts a drop and returns false if there
// is no memory. REQUIRES: tracing is on.
[[nodiscard]] bool MakeThread();

[[nodiscard]] inline bool EnsureThread() {
  return (t_thread.state != nullptr && t_thread.state->span == g_span) || MakeThread();
}

// Called by a thread that ends, after all that may still allocate: its state becomes another's.
void EndThread();

// Begins a span, before tracing starts. Returns false if ends of threads cannot be seen.
// REQUIRES: no thread records.
[[nodiscard]] bool StartThreads();

// Returns whether a thread is in the middle of recording, or of making its state. A thread that is
// in the agent's code and has not begun to record is not seen, nor is one that no longer exists.
// REQUIRES: since SwitchOff, each thread has been stopped once outside of the agent's code, or has
// waited in the kernel. The runner ensures this (runner/attach/linux/target.h,
// AwaitThreadsOutside). Otherwise a thread may have found tracing on, and its stores may not be
// visible yet (tests/unit/memory_model/switch_test.cpp). So the hot path needs no fence.
[[nodiscard]] bool IsAnyThreadRecording();

}  // namespace leakgate::agent
