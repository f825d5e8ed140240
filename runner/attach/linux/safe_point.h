// Decides whether a thread may be made to call the allocator and the dynamic linker where it is. It
// must hold none of their locks, and must not be in the middle of anything that they do.
//
// The whole call stack decides. The C library is mostly stripped, so only the functions that it
// exports have names. In each run of its frames, the outermost tells what the program called:
//
//   epoll_wait <- Loop::Run <- main <- (unnamed) <- __libc_start_main <- _start    safe
//   (unnamed) <- malloc <- Parse <- main ...                                       not safe
//   (unnamed) <- Parse <- main ...        entered by a jump, perhaps memalign's    not safe
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attach/linux/held_thread.h"
#include "runner/attach/linux/target_layout.h"
#include "runner/attach/linux/target_module.h"
#include "runner/attach/linux/target_stack.h"
#include "runner/base/expected.h"
#include "runner/process/proc_files.h"

namespace leakgate {

struct PlacedFrame {
  FrameOwner owner = FrameOwner::kProgram;
  std::vector<std::string_view> names;  // the C library's exported names; empty for other frames
  bool is_interrupted = false;          // as in StackFrame
};

// Whether the thread waits or runs.
enum class ThreadRunState {
  kWaits,  // it is in a system call
  kRuns,
};

// Returns why the thread is not at a safe point; nothing if it is. `stack` begins with the
// innermost frame. Pure.
[[nodiscard]] std::optional<std::string> WhyUnsafe(std::span<const PlacedFrame> stack,
                                                   ThreadRunState doing);

// Finds these facts about a held thread. Prepare and NoteMappings do the slow reading before a
// thread is stopped.
class SafePointCheck {
 public:
  // `memory` and `layout` must outlive the object.
  [[nodiscard]] static Expected<SafePointCheck> Prepare(const TargetMemory& memory,
                                                        const TargetLayout& layout);

  // Reads where stacks are. It should be called shortly before a thread is stopped.
  void NoteMappings();

  // Returns why `thread` may not be used for a call; nothing if it may be. An error means that no
  // thread of the process may be used.
  [[nodiscard]] Expected<std::optional<std::string>> WhyNotOn(const HeldThread& thread);

  // Returns why a call on another thread could block for ever while `thread` is stopped; nothing if
  // it could not.
  [[nodiscard]] std::optional<std::string> WhyBlocksOthers(const HeldThread& thread) const;

 private:
  SafePointCheck(const TargetMemory& memory, const TargetLayout& layout,
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
