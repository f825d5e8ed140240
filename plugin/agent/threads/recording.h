// The state of recording, which a thread holds for itself only.
//
// While a thread records, nothing else that it allocates is recorded (CanRecord in
// record/recorder.h): this keeps the agent from recording itself. Only the thread's own signal
// handlers check this, so compiler fences are enough.
#pragma once

#include <atomic>

#include "plugin/agent/threads/thread_state.h"

namespace leakgate::agent {

// The proof that this thread is recording, so that nothing is recorded twice. Only a RecordingGuard
// makes one. It is passed by value, in a register.
class Recording {
 public:
  ThreadState& thread() const { return *thread_; }

 private:
  friend class RecordingGuard;
  explicit Recording(ThreadState& thread) : thread_(&thread) {}

  ThreadState* thread_;
};

// Holds the thread's activity at kRecording. REQUIRES: CanRecord().
class RecordingGuard {
 public:
  RecordingGuard() : recording_(*t_thread.state) {
    t_thread.SetActivity(Activity::kRecording);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~RecordingGuard() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_thread.SetActivity(Activity::kHost);
  }
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

  operator Recording() const { return recording_; }  // NOLINT(google-explicit-constructor)

 private:
  const Recording recording_;
};

// Does the same by hand, for the hot path, where each function is one store. REQUIRES:
// the thread was ready.
inline void BecomeBusy(const KnownThread& own) {
  own.handle().ready = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void BecomeReady(const KnownThread& own, ThreadState* thread) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own.handle().ready = thread;
}

}  // namespace leakgate::agent
