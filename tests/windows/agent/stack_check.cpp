// The second opinion on every stack that the agent records: the system's own unwinder, from the
// function that calls the hooked one outwards. The agent is compiled with this for tests alone
// (plugin/agent/unwind/stack_check.h). How many were compared and how many differ are in variables
// that it exports, for the fixture's last words.
#include "plugin/agent/unwind/stack_check.h"

#include <windows.h>

#include <atomic>

#include "plugin/agent/base/region.h"

extern "C" {
std::atomic<unsigned long long> leakgate_stacks_checked{0};
std::atomic<unsigned long long> leakgate_stacks_wrong{0};
}

namespace leakgate::agent {
namespace {

// Goes from a frame to its caller, as RtlVirtualUnwind does it.
void LeaveFrame(CONTEXT& frame) {
  DWORD64 image = 0;
  const PRUNTIME_FUNCTION function = ::RtlLookupFunctionEntry(frame.Rip, &image, nullptr);
  if (function == nullptr) {
    frame.Rip = *reinterpret_cast<const std::uint64_t*>(frame.Rsp);
    frame.Rsp += 8;
    return;
  }
  void* data = nullptr;
  DWORD64 established = 0;
  ::RtlVirtualUnwind(UNW_FLAG_NHANDLER, image, frame.Rip, function, &frame, &data, &established,
                     nullptr);
}

bool IsRoot(std::uint32_t node) { return node < kStackRootCount; }

// Returns whether the stack's frames, innermost first, are those that the system finds. A stack
// that was cut ends early.
bool IsRight(CONTEXT frame, std::uint32_t stack) {
  for (; !IsRoot(stack); stack = g_region.stacks()[stack].parent) {
    if (g_region.stacks()[stack].pc != frame.Rip) return false;
    LeaveFrame(frame);
  }
  return frame.Rip == 0 || stack != static_cast<std::uint32_t>(UnwindEnd::kOutermost);
}

}  // namespace

void CheckStack(const CallerFrame& caller, std::uint32_t stack) {
  CONTEXT frame;
  ::RtlCaptureContext(&frame);
  constexpr int kMostFrames = 32;
  for (int i = 0; i < kMostFrames && frame.Rsp != caller.sp; ++i) LeaveFrame(frame);
  const bool is_right = frame.Rip == caller.pc && IsRight(frame, stack);
  leakgate_stacks_checked.fetch_add(1, std::memory_order_relaxed);
  if (is_right) return;
  leakgate_stacks_wrong.fetch_add(1, std::memory_order_relaxed);
  g_region.Drop(DropReason::kReentered);  // for tests of programs that do not ask
}

}  // namespace leakgate::agent
