// Walks a stack that has a frame for which rsp and rbp are not enough: by the system's own
// unwinder.
#include <windows.h>

#include <algorithm>

#include "plugin/agent/unwind/stack_walker.h"

namespace leakgate::agent {
namespace {

// Goes from a frame to its caller. Returns false if the caller's cannot be read.
bool LeaveFrame(CONTEXT& frame, StackMemory& memory) {
  DWORD64 image = 0;
  const PRUNTIME_FUNCTION function = ::RtlLookupFunctionEntry(frame.Rip, &image, nullptr);
  if (function != nullptr) {
    void* data = nullptr;
    DWORD64 established = 0;
    ::RtlVirtualUnwind(UNW_FLAG_NHANDLER, image, frame.Rip, function, &frame, &data, &established,
                       nullptr);
    return true;
  }
  std::uint64_t caller = 0;  // of a leaf
  if (!memory.Read(frame.Rsp, caller)) return false;
  frame.Rip = caller;
  frame.Rsp += 8;
  return true;
}

bool LeaveAgent(const CallerFrame& caller, StackMemory& memory, CONTEXT& frame) {
  constexpr int kMostFrames = 32;
  for (int i = 0; i < kMostFrames; ++i) {
    if (frame.Rsp == caller.sp) return frame.Rip == caller.pc;
    if (!LeaveFrame(frame, memory)) return false;
  }
  return false;
}

}  // namespace

// Starts again from the agent's own frame, where every register is available. The system's unwinder
// reads the stack unchecked, so each frame must be on the thread's own.
void StackWalker::WalkWithAllRegisters(ModuleTable& modules, const CallerFrame& caller,
                                       StackTrail& trail) {
  CONTEXT frame;
  ::RtlCaptureContext(&frame);
  trail.depth = 0;
  trail.is_provable = false;
  trail.end = UnwindEnd::kBadUnwindInfo;
  if (!LeaveAgent(caller, memory_, frame)) return;

  std::uint32_t depth = 0;
  while (depth < depth_limit_) {
    const std::uint64_t sp = frame.Rsp;
    trail.frames[depth++] = {.pc = frame.Rip,
                             .sp = sp,
                             .fp = frame.Rbp,
                             .module = modules.Find(frame.Rip - 1).id,
                             .node = 0,
                             .slot_end = 0,
                             .depends_on_fp = false};
    trail.end = UnwindEnd::kNotAStack;
    if (!own_stack_.Contains(sp)) break;
    trail.end = UnwindEnd::kUnreadableStack;
    if (!LeaveFrame(frame, memory_)) break;
    trail.end = UnwindEnd::kOutermost;
    if (frame.Rip == 0) break;
    trail.end = UnwindEnd::kNotAStack;
    if (frame.Rsp <= sp) break;
    trail.end = UnwindEnd::kDepthLimit;
  }
  std::reverse(trail.frames, trail.frames + depth);  // so far the innermost was the first
  trail.depth = depth;
}

}  // namespace leakgate::agent
