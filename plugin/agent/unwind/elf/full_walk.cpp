// Walks a stack that has a frame for which sp and fp are not enough.
#include <algorithm>

#include "plugin/agent/arch/registers.h"
#include "plugin/agent/unwind/elf/frame_step.h"
#include "plugin/agent/unwind/stack_walker.h"

namespace leakgate::agent {
namespace {

// Unwinds the agent's own frames, up to the caller of the interposed function.
bool LeaveAgent(ModuleTable& modules, const CallerFrame& caller, StackMemory& memory,
                RegisterFile& registers) {
  constexpr int kMaxAgentFrames = 32;
  bool is_exact = true;
  for (int i = 0; i < kMaxAgentFrames; ++i) {
    if (registers.value[kStackPointer] == caller.sp)
      return registers.value[kProgramCounter] == caller.pc;
    const std::uint64_t lookup_pc = registers.value[kProgramCounter] - (is_exact ? 0 : 1);
    const ModuleView module = modules.Find(lookup_pc);
    const StepResult step = StepFrame(module.section, lookup_pc, registers, memory);
    if (step.kind == StepResult::Kind::kEnded) return false;
    is_exact = false;
  }
  return false;
}

}  // namespace

// Starts again from the agent's own frame, where every register is available.
void StackWalker::WalkWithAllRegisters(ModuleTable& modules, const CallerFrame& caller,
                                       StackTrail& trail) {
  RegisterFile registers = CaptureRegisters();
  trail.depth = 0;
  trail.is_provable = false;
  trail.end = UnwindEnd::kBadUnwindInfo;
  if (!LeaveAgent(modules, caller, memory_, registers)) return;

  std::uint32_t depth = 0;
  for (bool is_exact = false; depth < depth_limit_;) {
    const std::uint64_t lookup_pc = registers.value[kProgramCounter] - (is_exact ? 0 : 1);
    const ModuleView module = modules.Find(lookup_pc);
    const std::uint64_t sp = registers.value[kStackPointer];
    trail.frames[depth++] = {.pc = lookup_pc + 1,
                             .sp = sp,
                             .fp = registers.value[kFramePointer],
                             .module = module.id,
                             .node = 0,
                             .slot_end = 0,
                             .depends_on_fp = false};
    const StepResult step = StepFrame(module.section, lookup_pc, registers, memory_);
    trail.end = step.end;
    if (step.kind == StepResult::Kind::kEnded || registers.value[kProgramCounter] == 0) break;
    trail.end = UnwindEnd::kNotAStack;
    // If calls leave the return address in a register, interrupted code may have nothing on the
    // stack.
    const std::uint64_t least_sp = is_exact ? sp : sp + 1;
    if (registers.value[kStackPointer] < least_sp && !step.was_signal_frame) break;
    trail.end = UnwindEnd::kDepthLimit;
    is_exact = step.was_signal_frame;
  }
  std::reverse(trail.frames, trail.frames + depth);  // so far the innermost was the first
  trail.depth = depth;
}

}  // namespace leakgate::agent
