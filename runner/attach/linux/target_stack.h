// Unwinds the call stack of a held thread. elfutils does so by the .eh_frame of the modules, from
// the thread's registers and the process's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runner/arch/registers.h"
#include "runner/attach/linux/target_module.h"
#include "runner/base/expected.h"

struct Dwfl;

namespace leakgate {

struct StackFrame {
  std::uint64_t pc = 0;  // the address at which the frame continues
  bool is_interrupted =
      false;  // true for the innermost frame, and for those that a signal interrupted
};

struct TargetStack {
  std::vector<StackFrame> frames;  // the innermost is first
  bool is_complete = false;        // true if it reaches the function in which the thread began
};

class StackUnwinder {
 public:
  // Reads what the process has loaded. `memory` must outlive the unwinder.
  [[nodiscard]] static Expected<std::unique_ptr<StackUnwinder>> Create(const TargetMemory& memory);
  ~StackUnwinder();
  StackUnwinder(const StackUnwinder&) = delete;
  StackUnwinder& operator=(const StackUnwinder&) = delete;

  [[nodiscard]] TargetStack Unwind(const RegisterSet& registers);

 private:
  explicit StackUnwinder(const TargetMemory& memory) : memory_(memory) {}

  struct Callbacks;

  const TargetMemory& memory_;
  Dwfl* dwfl_ = nullptr;
  RegisterSet registers_{};
};

}  // namespace leakgate
