// Walks a thread's call stack by what its modules say of their frames (frame_info.h), which is
// exact without frame pointers. It never allocates, locks only when it meets a module for the first
// time, and never faults (stack_memory.h).
//
// Each thread has one, and uses it for its own stack only.
#pragma once

#include <cstdint>
#include <utility>

#include "common/system.h"
#include "plugin/agent/arch/caller_frame.h"
#include "plugin/agent/unwind/module_table.h"
#include "plugin/agent/unwind/stack_memory.h"
#include "plugin/agent/unwind/stack_trail.h"
#include "plugin/agent/unwind/unwind_rule.h"

#include LEAKGATE_AGENT(own_stack)

namespace leakgate::agent {

class StackWalker {
 public:
  // Turns `trail`, the thread's last stack, into the stack at `caller`. Frames that are proved
  // unchanged are kept. Returns how many, counted from the outermost. The stack table must then
  // fill in the nodes of the others.
  std::uint32_t Walk(ModuleTable& modules, const CallerFrame& caller, StackTrail& trail);

  // Returns whether the stack pointer is surely on the thread's own stack, which has room for the
  // agent.
  bool IsSurelyOnOwnStack(std::uint64_t sp) const { return own_stack_.SurelyContains(sp); }

  // Returns whether all stacks that were walked since Begin, and are provable, are surely on
  // `own_stack`, too, if a stack pointer on it has the same value.
  bool HasWalkedOn(const OwnStack& own_stack) const { return own_stack_ == own_stack; }

  // Returns how many rules were not in the cache since the last call.
  std::uint32_t TakeRulesMade() { return std::exchange(rules_made_, 0); }

  // Called when a thread begins to use this walker: all that is known of the previous stack is
  // forgotten. Stacks are cut at `depth_limit` frames.
  void Begin(const OwnStack& own_stack, std::uint32_t depth_limit) {
    own_stack_ = own_stack;
    const bool is_valid = depth_limit != 0 && depth_limit <= kMaxStackDepth;
    depth_limit_ = is_valid ? depth_limit : kDefaultStackDepth;
    memory_ = {};
  }

 private:
  // A frame on the way out, and how it was left.
  struct Passed {
    std::uint64_t pc;  // these as in TrailFrame
    std::uint64_t sp;
    std::uint64_t fp;
    std::uint32_t module;
    std::uint8_t slot_count;
    bool restores_fp;
    bool uses_fp;
    StackSlot slots[2];  // the CFA if it was read, the return address
    StackSlot saved_fp;
  };
  struct Position {
    std::uint64_t pc;
    std::uint64_t sp;
    std::uint64_t fp;
    bool is_exact;  // the pc itself, not one past a call
    std::uint64_t LookupPc() const { return is_exact ? pc : pc - 1; }
  };
  enum class Step : std::uint8_t { kStepped, kEnded, kNeedsRegisters };

  // Inline, although it is long: a walk of one frame is most of the cost of a new stack.
  inline void Append(const Passed& passed, StackTrail& trail);
  inline void AppendSlot(const StackSlot& read, std::uint32_t& slot, StackTrail& trail);
  inline Step StepOutPlain(const UnwindRule& rule, Position& at, Passed& passed, UnwindEnd& end);
  inline Step StepOut(const UnwindRule& rule, Position& at, Passed& passed, UnwindEnd& end);
  inline bool ReadCfa(const UnwindRule& rule, const Position& at, Passed& passed,
                      std::uint64_t& cfa);
  inline bool ReadCaller(const UnwindRule& rule, const Position& at, std::uint64_t cfa,
                         Passed& passed, Position& caller);
  inline bool ReadSlot(UnwindRule::Slot slot, std::int32_t offset, const Position& at,
                       std::uint64_t cfa, StackSlot& read);
  inline const RuleCache::Entry& Lookup(ModuleTable& modules, std::uint64_t lookup_pc);
  const RuleCache::Entry& MakeRule(ModuleTable& modules, std::uint64_t lookup_pc);
  void WalkWithAllRegisters(ModuleTable& modules, const CallerFrame& caller, StackTrail& trail);

  OwnStack own_stack_;
  StackMemory memory_;
  RuleCache rules_;
  // The reader of the rule that was made last: the next rule is mostly of the same function or
  // module.
  FrameRowReader row_reader_;
  ModuleView module_;
  std::uint32_t module_epoch_ = 0;
  std::uint32_t rules_made_ = 0;
  std::uint32_t depth_limit_ = kDefaultStackDepth;
  // The frames of the present walk, innermost first. Like the trail, it takes the memory of the
  // deepest stack so far, not of the deepest possible one.
  Passed passed_[kMaxStackDepth];
};

}  // namespace leakgate::agent
