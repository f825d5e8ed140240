// Whether a thread may be made to call the allocator and the dynamic linker where it is. It must
// hold none of their locks, and must not be in the middle of anything that they do.
//
// This is judged by its whole call stack. The C library is mostly stripped, so only what it exports
// has a name there: of each stretch of its frames, the outermost tells what the library was called
// for.
//
//   epoll_wait <- Loop::Run <- main <- (unnamed) <- __libc_start_main <- _start    safe
//   (unnamed) <- malloc <- Parse <- main ...                                       not safe
//   (unnamed) <- Parse <- main ...        entered by a jump: memalign's, maybe     not safe
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leakgate {

enum class FrameOwner {
  kProgram,  // anything else
  kCLibrary,
  kDynamicLinker,
  kAllocator,  // a library that defines malloc
  kAgent,
  kUnknown,  // in no module
};

struct PlacedFrame {
  FrameOwner owner = FrameOwner::kProgram;
  std::vector<std::string_view> names;  // of the C library's: those it exports; none if unnamed
  bool is_interrupted = false;          // as StackFrame
};

// What the thread is doing, as far as a call is concerned.
enum class ThreadDoing {
  kWaits,  // in a system call
  kRuns,
};

// Returns why the thread is not at a safe point; nothing if it is. `stack` is innermost first.
// Pure.
[[nodiscard]] std::optional<std::string> WhyUnsafe(std::span<const PlacedFrame> stack,
                                                   ThreadDoing doing);

}  // namespace leakgate
