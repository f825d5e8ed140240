// A process that is being attached to: calls functions in it, on one of its threads at a
// safe point, and knows what state its agent is in.
//
// One thread's of the runner's, which ends afterwards.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runner/attach/linux/call_point.h"
#include "runner/attach/linux/remote_calls.h"
#include "runner/attach/linux/target_layout.h"
#include "runner/attach/linux/target_memory.h"
#include "runner/attach/linux/thread_progress.h"
#include "runner/attach/linux/thread_stops.h"
#include "runner/attach/linux/waiting_threads.h"
#include "runner/base/expected.h"

namespace leakgate {

class Target {
 public:
  [[nodiscard]] static Expected<Target> Open(int pid);

  int pid() const { return memory_->pid(); }
  const TargetMemory& memory() const { return *memory_; }
  const TargetLayout& layout() const { return *layout_; }
  // What is loaded has changed.
  [[nodiscard]] Expected<void> ReadLayout();

  // The agent's state; kUnready where there is no agent.
  [[nodiscard]] AttachPointCopy Point() const;
  // Fails where the agent is of another version.
  [[nodiscard]] Expected<void> RequireVersion() const;

  using Calls = std::function<Expected<void>(RemoteCalls&)>;
  // Runs `calls` on a thread at a safe point; fails if none of them comes to one.
  [[nodiscard]] Expected<void> AtSafePoint(const Calls& calls);

  // One of the agent's functions. Its outcome is in Point().
  [[nodiscard]] Expected<void> CallAgent(std::uint64_t AttachPointCopy::*function,
                                         std::string_view text = {});

  // Waits until each thread has been seen outside of the agent, of those that are there
  // now: a thread that begins finds tracing off. False: one stays there.
  [[nodiscard]] bool AwaitThreadsOutside();

  int tid() const { return tid_; }                               // that was called on last
  std::chrono::nanoseconds stopped() const { return stopped_; }  // of those, by the calls

 private:
  explicit Target(std::unique_ptr<TargetMemory> memory)
      : memory_(std::move(memory)), stops_(memory_->pid()) {}

  Expected<void> RequireNothingHeldUp();
  Expected<bool> TryThreads(const Calls& calls, ThreadProgress& progress, StopCost most);
  Expected<bool> TryOn(HeldThread thread, const Calls& calls);
  bool IsOutside(int tid, ThreadProgress& progress);
  bool HasEnded() const;
  Error NoSafePoint() const;

  std::unique_ptr<TargetMemory> memory_;
  std::unique_ptr<TargetLayout> layout_;
  std::optional<CallPoint> call_point_;  // of layout_
  ThreadStops stops_;
  std::string why_not_;  // the last thread that was looked at was no good
  int tid_ = 0;
  std::chrono::nanoseconds stopped_{};
};

}  // namespace leakgate
