#include "plugin/agent/unwind/stack_walker.h"

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/unwind/stack_trail.h"

#include LEAKGATE_ARCH(return_address)

namespace leakgate::agent {
namespace {

std::uint64_t Plus(std::uint64_t base, std::int32_t offset) {
  return base + static_cast<std::uint64_t>(static_cast<std::int64_t>(offset));
}

}  // namespace

std::uint32_t StackWalker::Walk(ModuleTable& modules, const CallerFrame& caller,
                                StackTrail& trail) {
  const std::uint32_t epoch = modules.Epoch();
  if (epoch != module_epoch_) {
    // A new thread's cache is empty, and has no memory yet.
    if (module_epoch_ != 0) rules_.Forget();
    row_reader_.Forget();
    module_ = {};
    trail.depth = 0;
    module_epoch_ = epoch;
  }

  const bool is_own_stack = own_stack_.Contains(caller.sp);
  if (!is_own_stack) {
    memory_ = {};
    trail.is_provable = false;
  }
  TrailJoin join(trail);
  Position at{caller.pc, caller.sp, caller.fp, false};
  UnwindEnd end = UnwindEnd::kOutermost;
  std::uint32_t passed = 0;
  std::uint32_t kept = 0;
  for (;;) {
    kept = join.Meet(at.LookupPc() + 1, at.sp, at.fp);
    if (kept != 0) break;
    if (passed == depth_limit_) {
      end = UnwindEnd::kDepthLimit;
      break;
    }
    const RuleCache::Entry& entry = Lookup(modules, at.LookupPc());
    Passed& frame = passed_[passed++];
    frame.pc = at.LookupPc() + 1;
    frame.sp = at.sp;
    frame.fp = at.fp;
    frame.module = entry.module;
    const Step step = entry.rule.is_plain ? StepOutPlain(entry.rule, at, frame, end)
                                          : StepOut(entry.rule, at, frame, end);
    if (step == Step::kNeedsRegisters) {
      WalkWithAllRegisters(modules, caller, trail);
      return 0;
    }
    if (step == Step::kEnded) break;
  }
  // The stack is deeper than the limit with the frames that would be kept: all of it is walked.
  if (kept + passed > depth_limit_) {
    trail.depth = 0;
    return Walk(modules, caller, trail);
  }
  if (kept == 0) trail.end = end;
  trail.is_provable = is_own_stack;
  trail.depth = kept;
  while (passed > 0) Append(passed_[--passed], trail);
  return kept;
}

// Called from the outermost of the new frames inwards: whether the frame pointer matters at a frame
// depends on whether it matters at the frame's caller.
void StackWalker::Append(const Passed& passed, StackTrail& trail) {
  const bool caller_depends_on_fp = trail.depth != 0 && trail.innermost().depends_on_fp;
  std::uint32_t slot = trail.slot_count();
  if (passed.slot_count != 0) AppendSlot(passed.slots[0], slot, trail);
  if (passed.slot_count == 2) AppendSlot(passed.slots[1], slot, trail);
  if (passed.restores_fp && caller_depends_on_fp) AppendSlot(passed.saved_fp, slot, trail);

  trail.frames[trail.depth++] = {
      .pc = passed.pc,
      .sp = passed.sp,
      .fp = passed.fp,
      .module = passed.module,
      .node = 0,
      .slot_end = static_cast<std::uint16_t>(slot),
      .depends_on_fp = passed.uses_fp || (!passed.restores_fp && caller_depends_on_fp)};
}

void StackWalker::AppendSlot(const StackSlot& read, std::uint32_t& slot, StackTrail& trail) {
  trail.slots[slot++] = {read.address, read.value};
  if (!own_stack_.Contains(read.address)) trail.is_provable = false;
}

// StepOut for a plain rule, which most rules are.
StackWalker::Step StackWalker::StepOutPlain(const UnwindRule& rule, Position& at, Passed& passed,
                                            UnwindEnd& end) {
  passed.slot_count = 0;
  passed.restores_fp = rule.fp != UnwindRule::Slot::kSame;
  passed.uses_fp = rule.cfa != UnwindRule::Cfa::kSpPlus;
  const std::uint64_t cfa = Plus(passed.uses_fp ? at.fp : at.sp, rule.cfa_offset);
  StackSlot& slot = passed.slots[0];
  slot.address = Plus(cfa, rule.return_address_offset);
  end = UnwindEnd::kUnreadableStack;
  if (!memory_.Read(slot.address, slot.value)) {
    passed.restores_fp = false;
    return Step::kEnded;
  }
  passed.slot_count = 1;
  if (passed.restores_fp) {
    passed.saved_fp.address = Plus(cfa, rule.fp_offset);
    if (!memory_.Read(passed.saved_fp.address, passed.saved_fp.value)) {
      passed.restores_fp = false;
      return Step::kEnded;
    }
    at.fp = passed.saved_fp.value;
  }
  end = UnwindEnd::kNotAStack;
  if (cfa <= at.sp) return Step::kEnded;
  at.pc = WithoutSignature(slot.value);
  at.sp = cfa;
  at.is_exact = false;
  end = UnwindEnd::kOutermost;
  return at.pc == 0 ? Step::kEnded : Step::kStepped;
}

StackWalker::Step StackWalker::StepOut(const UnwindRule& rule, Position& at, Passed& passed,
                                       UnwindEnd& end) {
  passed.slot_count = 0;
  passed.restores_fp = false;
  passed.uses_fp = false;
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

  std::uint64_t cfa = 0;
  Position caller{};
  if (!ReadCfa(rule, at, passed, cfa) || !ReadCaller(rule, at, cfa, passed, caller)) {
    end = UnwindEnd::kUnreadableStack;
    return Step::kEnded;
  }
  // A signal may have interrupted code on another stack; all other callers are above.
  if (cfa <= at.sp && !rule.is_signal_frame) {
    end = UnwindEnd::kNotAStack;
    return Step::kEnded;
  }
  at = caller;
  end = UnwindEnd::kOutermost;
  return at.pc == 0 ? Step::kEnded : Step::kStepped;
}

bool StackWalker::ReadCfa(const UnwindRule& rule, const Position& at, Passed& passed,
                          std::uint64_t& cfa) {
  using Cfa = UnwindRule::Cfa;
  const bool from_sp = rule.cfa == Cfa::kSpPlus || rule.cfa == Cfa::kAtSp;
  if (!from_sp) passed.uses_fp = true;
  cfa = Plus(from_sp ? at.sp : at.fp, rule.cfa_offset);
  if (rule.cfa == Cfa::kSpPlus || rule.cfa == Cfa::kFpPlus) return true;

  StackSlot& slot = passed.slots[passed.slot_count];
  slot.address = cfa;
  if (!memory_.Read(cfa, slot.value)) return false;
  ++passed.slot_count;
  cfa = slot.value;
  return true;
}

bool StackWalker::ReadCaller(const UnwindRule& rule, const Position& at, std::uint64_t cfa,
                             Passed& passed, Position& caller) {
  using Slot = UnwindRule::Slot;
  if (rule.return_address == Slot::kAtFp || rule.fp == Slot::kAtFp) passed.uses_fp = true;
  StackSlot& slot = passed.slots[passed.slot_count];
  if (!ReadSlot(rule.return_address, rule.return_address_offset, at, cfa, slot)) return false;
  ++passed.slot_count;
  caller = {WithoutSignature(slot.value), cfa, at.fp, rule.is_signal_frame};
  if (rule.fp == Slot::kSame) return true;

  if (!ReadSlot(rule.fp, rule.fp_offset, at, cfa, passed.saved_fp)) return false;
  passed.restores_fp = true;
  caller.fp = passed.saved_fp.value;
  return true;
}

bool StackWalker::ReadSlot(UnwindRule::Slot slot, std::int32_t offset, const Position& at,
                           std::uint64_t cfa, StackSlot& read) {
  switch (slot) {
    case UnwindRule::Slot::kAtCfa:
      read.address = Plus(cfa, offset);
      break;
    case UnwindRule::Slot::kAtSp:
      read.address = Plus(at.sp, offset);
      break;
    case UnwindRule::Slot::kAtFp:
      read.address = Plus(at.fp, offset);
      break;
    case UnwindRule::Slot::kSame:
      return false;
  }
  return memory_.Read(read.address, read.value);
}

const RuleCache::Entry& StackWalker::Lookup(ModuleTable& modules, std::uint64_t lookup_pc) {
  const RuleCache::Entry& entry = rules_.Slot(lookup_pc);
  return entry.lookup_pc == lookup_pc ? entry : MakeRule(modules, lookup_pc);
}

const RuleCache::Entry& StackWalker::MakeRule(ModuleTable& modules, std::uint64_t lookup_pc) {
  ++rules_made_;
  const bool is_known = lookup_pc >= module_.begin && lookup_pc < module_.end;
  if (!is_known) {
    module_ = modules.Find(lookup_pc);
    row_reader_.Forget();
  }
  RuleCache::Entry& entry = rules_.SlotToFill(lookup_pc);
  entry = {lookup_pc, module_.id, FindRule(module_.section, lookup_pc, row_reader_)};
  if (module_.id == 0) {
    module_ = {};
    modules.NoteCodeOutside(lookup_pc);
    entry.lookup_pc = 0;  // looked up each time: later a module may be mapped there
  }
  return entry;
}

}  // namespace leakgate::agent
