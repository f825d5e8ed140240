#include "plugin/agent/unwind/stack_walker.h"

#include "plugin/agent/unwind/frame_step.h"

namespace leakgate::agent {
namespace {

std::uint64_t Plus(std::uint64_t base, std::int32_t offset) {
  return base + static_cast<std::uint64_t>(static_cast<std::int64_t>(offset));
}

// The registers that calls preserve, as they are here.
__attribute__((noinline)) RegisterFile CaptureRegisters() {
  std::uint64_t pc = 0;
  std::uint64_t value[6];
  asm volatile(
      "leaq 0(%%rip), %0\n\t"
      "movq %%rbx, 0(%1)\n\t"
      "movq %%rbp, 8(%1)\n\t"
      "movq %%rsp, 16(%1)\n\t"
      "movq %%r12, 24(%1)\n\t"
      "movq %%r13, 32(%1)\n\t"
      "movq %%r14, 40(%1)\n\t"
      : "=&r"(pc)
      : "r"(value)
      : "memory");
  std::uint64_t r15 = 0;
  asm volatile("movq %%r15, %0" : "=r"(r15));
  RegisterFile registers;
  registers.Set(kReturnAddress, pc);
  registers.Set(kRbx, value[0]);
  registers.Set(kRbp, value[1]);
  registers.Set(kRsp, value[2]);
  for (std::uint32_t i = 0; i < 3; ++i) registers.Set(kR12 + i, value[3 + i]);
  registers.Set(kR15, r15);
  return registers;
}

}  // namespace

void StackWalker::Walk(ModuleTable& modules, const CallerFrame& caller, CallStack& stack) {
  const std::uint32_t epoch = modules.Epoch();
  if (epoch != module_epoch_) {
    rules_.Forget();
    module_epoch_ = epoch;
  }

  Position at{caller.pc, caller.sp, caller.fp, false};
  stack.depth = 0;
  for (;;) {
    if (stack.depth == kMaxStackDepth) {
      stack.end = UnwindEnd::kDepthLimit;
      return;
    }
    const RuleCache::Entry& entry = Lookup(modules, at.LookupPc());
    stack.frames[stack.depth++] = {at.LookupPc() + 1, entry.module};
    const Step step = StepOut(entry.rule, at, stack.end);
    if (step == Step::kEnded) return;
    if (step == Step::kNeedsRegisters) return WalkWithAllRegisters(modules, caller, stack);
  }
}

StackWalker::Step StackWalker::StepOut(const UnwindRule& rule, Position& at, UnwindEnd& end) {
  switch (rule.kind) {
    case UnwindRule::Kind::kCompact:
      break;
    case UnwindRule::Kind::kFull:
      return Step::kNeedsRegisters;
    case UnwindRule::Kind::kOutermost:
      end = UnwindEnd::kOutermost;
      return Step::kEnded;
    case UnwindRule::Kind::kNoInfo:
      end = UnwindEnd::kNoUnwindInfo;
      return Step::kEnded;
    case UnwindRule::Kind::kBadInfo:
      end = UnwindEnd::kBadUnwindInfo;
      return Step::kEnded;
  }

  using Cfa = UnwindRule::Cfa;
  end = UnwindEnd::kUnreadableStack;
  const bool from_sp = rule.cfa == Cfa::kSpPlus || rule.cfa == Cfa::kAtSp;
  std::uint64_t cfa = Plus(from_sp ? at.sp : at.fp, rule.cfa_offset);
  const bool loads = rule.cfa == Cfa::kAtSp || rule.cfa == Cfa::kAtFp;
  if (loads && !memory_.Read(cfa, cfa)) return Step::kEnded;

  Position caller{0, cfa, 0, rule.is_signal_frame};
  if (!ReadSlot(rule.return_address, rule.return_address_offset, at, cfa, caller.pc) ||
      !ReadSlot(rule.fp, rule.fp_offset, at, cfa, caller.fp)) {
    return Step::kEnded;
  }
  // A signal may have interrupted another stack; all other callers are above.
  if (cfa <= at.sp && !rule.is_signal_frame) {
    end = UnwindEnd::kNotAStack;
    return Step::kEnded;
  }
  at = caller;
  end = UnwindEnd::kOutermost;
  return at.pc == 0 ? Step::kEnded : Step::kStepped;
}

bool StackWalker::ReadSlot(UnwindRule::Slot slot, std::int32_t offset, const Position& at,
                           std::uint64_t cfa, std::uint64_t& value) {
  switch (slot) {
    case UnwindRule::Slot::kSame:
      value = at.fp;
      return true;
    case UnwindRule::Slot::kAtCfa:
      return memory_.Read(Plus(cfa, offset), value);
    case UnwindRule::Slot::kAtSp:
      return memory_.Read(Plus(at.sp, offset), value);
    case UnwindRule::Slot::kAtFp:
      return memory_.Read(Plus(at.fp, offset), value);
  }
  return false;
}

const RuleCache::Entry& StackWalker::Lookup(ModuleTable& modules, std::uint64_t lookup_pc) {
  RuleCache::Entry& entry = rules_.Slot(lookup_pc);
  if (entry.lookup_pc == lookup_pc) return entry;

  const ModuleView module = modules.Find(lookup_pc);
  entry = {lookup_pc, module.id, FindRule(module.section, lookup_pc)};
  return entry;
}

// Starts anew from the agent's own frame, where every register is at hand.
void StackWalker::WalkWithAllRegisters(ModuleTable& modules, const CallerFrame& caller,
                                       CallStack& stack) {
  RegisterFile registers = CaptureRegisters();
  stack.depth = 0;
  stack.end = UnwindEnd::kBadUnwindInfo;
  if (!LeaveAgent(modules, caller, registers)) return;

  bool is_exact = false;
  for (;;) {
    if (stack.depth == kMaxStackDepth) {
      stack.end = UnwindEnd::kDepthLimit;
      return;
    }
    const std::uint64_t lookup_pc = registers.value[kReturnAddress] - (is_exact ? 0 : 1);
    const ModuleView module = modules.Find(lookup_pc);
    stack.frames[stack.depth++] = {lookup_pc + 1, module.id};
    const std::uint64_t sp = registers.value[kRsp];
    const StepResult step = StepFrame(module.section, lookup_pc, registers, memory_);
    stack.end = step.end;
    if (step.kind == StepResult::Kind::kEnded || registers.value[kReturnAddress] == 0) return;
    if (registers.value[kRsp] <= sp && !step.was_signal_frame) {
      stack.end = UnwindEnd::kNotAStack;
      return;
    }
    is_exact = step.was_signal_frame;
  }
}

// Unwinds the agent's own frames, up to the caller of the interposed function.
bool StackWalker::LeaveAgent(ModuleTable& modules, const CallerFrame& caller,
                             RegisterFile& registers) {
  constexpr int kMaxAgentFrames = 32;
  bool is_exact = true;
  for (int i = 0; i < kMaxAgentFrames; ++i) {
    if (registers.value[kRsp] == caller.sp) return registers.value[kReturnAddress] == caller.pc;
    const std::uint64_t lookup_pc = registers.value[kReturnAddress] - (is_exact ? 0 : 1);
    const ModuleView module = modules.Find(lookup_pc);
    const StepResult step = StepFrame(module.section, lookup_pc, registers, memory_);
    if (step.kind == StepResult::Kind::kEnded) return false;
    is_exact = false;
  }
  return false;
}

}  // namespace leakgate::agent
