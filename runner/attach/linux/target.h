// A process that is being attached to. Calls functions on one of its threads at a safe point, and
// reads the state of its agent.
//
// Used by one thread of the runner, which ends afterwards.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runner/attach/linux/remote_calls.h"
#include "runner/attach/linux/safe_point.h"
#include "runner/attach/linux/target_layout.h"
#include "runner/attach/linux/target_module.h"
#include "runner/attach/linux/thread_stops.h"
#include "runner/base/expected.h"

namespace leakgate {

class Target {
 public:
  [[nodiscard]] static Expected<Target> Open(int pid);

  int pid() const { return memory_->pid(); }
  const TargetMemory& memory() const { return *memory_; }
  const TargetLayout& layout() const { return *layout_; }
  // Reads again what the process has loaded. To be called after the agent has been loaded.
  [[nodiscard]] Expected<void> ReadLayout();

  // Returns the agent's attach point as it is now; kUnready if there is no agent.
  [[nodiscard]] AttachPointCopy Point() const;
  // Fails if the agent is of another version.
  [[nodiscard]] Expected<void> RequireVersion() const;

  using Calls = std::function<Expected<void>(RemoteCalls&)>;
  // Runs `calls` on a thread that is at a safe point. Fails if no thread comes to one.
  [[nodiscard]] Expected<void> AtSafePoint(const Calls& calls);

  // Calls one of the agent's functions. Point() has the outcome.
  [[nodiscard]] Expected<void> CallAgent(std::uint64_t AttachPointCopy::*function,
                                         std::string_view text = {});

  // Waits until each thread that exists now has been seen outside the agent; a thread that begins
  // later finds tracing off. Returns false if a thread stays in the agent.
  [[nodiscard]] bool AwaitThreadsOutside();

  int tid() const { return tid_; }  // the thread that made the last calls
  // How long threads were stopped for calls.
  std::chrono::nanoseconds stopped() const { return stopped_; }

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
  std::optional<SafePointCheck> safe_point_;  // of layout_
  ThreadStops stops_;
  std::string why_not_;  // why the last thread that was looked at was not at a safe point
  int tid_ = 0;
  std::chrono::nanoseconds stopped_{};
};

}  // namespace leakgate
