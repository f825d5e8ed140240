// Walks a thread's call stack by its modules' .eh_frame: exact without frame
// pointers. Never allocates, locks only when it meets a module for the first
// time, and never faults: see StackMemory.
//
// One for each thread, used by that thread only, about itself.
#pragma once

#include <cstdint>

#include "common/unwind_end.h"
#include "plugin/agent/module_table.h"
#include "plugin/agent/unwind/registers.h"
#include "plugin/agent/unwind/rule_cache.h"
#include "plugin/agent/unwind/stack_memory.h"

namespace leakgate::agent {

inline constexpr std::uint32_t kMaxStackDepth = 256;

// Where a walk begins: the state of the interposed function's caller, just
// after the call returns.
struct CallerFrame {
  std::uint64_t pc;
  std::uint64_t sp;
  std::uint64_t fp;
};

// Must be expanded in the interposed function itself. Reading the frame address
// makes the compiler set that function up with rbp.
#define LEAKGATE_CALLER_FRAME()                                                       \
  ::leakgate::agent::CallerFrame {                                                    \
    reinterpret_cast<std::uint64_t>(__builtin_return_address(0)),                     \
        reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) + 16,             \
        *static_cast<const std::uint64_t*>(__builtin_frame_address(0))                \
  }

struct StackFrame {
  std::uint64_t pc;      // as StackNode::pc
  std::uint32_t module;  // as StackNode::module
};

struct CallStack {
  StackFrame frames[kMaxStackDepth];  // innermost first
  std::uint32_t depth = 0;
  UnwindEnd end = UnwindEnd::kOutermost;
};

class StackWalker {
 public:
  void Walk(ModuleTable& modules, const CallerFrame& caller, CallStack& stack);

  // For a new thread that takes this walker over: the old one's stack is gone.
  void ForgetStack() { memory_ = {}; }

 private:
  struct Position {
    std::uint64_t pc;
    std::uint64_t sp;
    std::uint64_t fp;
    bool is_exact;  // the pc itself, not one past a call
    std::uint64_t LookupPc() const { return is_exact ? pc : pc - 1; }
  };
  enum class Step : std::uint8_t { kStepped, kEnded, kNeedsRegisters };

  Step StepOut(const UnwindRule& rule, Position& at, UnwindEnd& end);
  bool ReadSlot(UnwindRule::Slot slot, std::int32_t offset, const Position& at, std::uint64_t cfa,
                std::uint64_t& value);
  const RuleCache::Entry& Lookup(ModuleTable& modules, std::uint64_t lookup_pc);
  void WalkWithAllRegisters(ModuleTable& modules, const CallerFrame& caller, CallStack& stack);
  bool LeaveAgent(ModuleTable& modules, const CallerFrame& caller, RegisterFile& registers);

  StackMemory memory_;
  RuleCache rules_;
  std::uint32_t module_epoch_ = 0;
};

}  // namespace leakgate::agent
