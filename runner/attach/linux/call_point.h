// Whether a thread that is held may be made to call the agent where it is. This finds the facts
// about a real thread, and safe_point.h judges by them.
//
// What takes long is read before anything is stopped, by Prepare and NoteMappings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/attach/linux/held_thread.h"
#include "runner/attach/linux/target_layout.h"
#include "runner/attach/linux/target_module.h"
#include "runner/attach/linux/target_stack.h"
#include "runner/base/expected.h"
#include "runner/process/memory_layout.h"

namespace leakgate {

class CallPoint {
 public:
  // `memory` and `layout` must outlive it.
  [[nodiscard]] static Expected<CallPoint> Prepare(const TargetMemory& memory,
                                                   const TargetLayout& layout);

  // Reads where stacks are. To be called shortly before a thread is stopped.
  void NoteMappings();

  // Returns why `thread` may not be made to call; nothing if it may. An error means that no thread
  // of the process may.
  [[nodiscard]] Expected<std::optional<std::string>> WhyNotOn(const HeldThread& thread);

  // Returns why a call on another thread could wait for ever for `thread` while that is stopped;
  // nothing if it could not.
  [[nodiscard]] std::optional<std::string> WhyHoldsUp(const HeldThread& thread) const;

 private:
  CallPoint(const TargetMemory& memory, const TargetLayout& layout,
            std::unique_ptr<StackUnwinder> unwinder)
      : memory_(&memory), layout_(&layout), unwinder_(std::move(unwinder)) {}

  std::optional<std::string> WhyInUnsafeCode(const RegisterSet& registers) const;
  bool HasRoomOnStack(const RegisterSet& registers, int tid) const;
  bool IsInRestartableSequence(int tid, std::uint64_t pc) const;

  const TargetMemory* memory_;
  const TargetLayout* layout_;
  std::unique_ptr<StackUnwinder> unwinder_;
  std::vector<MappedRange> maps_;
};

}  // namespace leakgate
