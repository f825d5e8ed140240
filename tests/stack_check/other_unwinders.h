// The unwinders that stacks are held against: libunwind, and libgcc's. Neither
// shares a line with the agent's own. Both unwind from the function called here
// outwards, and give each frame to `visitor` as (pc, sp): the pc one past the
// instruction where the frame was interrupted, as in StackNode.
#pragma once

#include <unwind.h>

#include <cstdint>

#include "tests/stack_check/processor.h"

namespace leakgate::check {

// libunwind is loaded by itself, with its symbols kept local: it defines the
// functions that throw the host's exceptions, too.
struct Libunwind {
  ContextGetter getcontext;
  decltype(&unw_init_local) init_local;
  decltype(&unw_step) step;
  decltype(&unw_get_reg) get_reg;
  decltype(&unw_flush_cache) flush_cache;
  unw_addr_space_t* local_addr_space;
};

// Whether `pc` is where a signal handler returns to: what it returns to in turn
// was interrupted, not called. unw_is_signal_frame says no for every frame that
// has unwind information.
bool IsSignalTrampoline(std::uint64_t pc);

// nullptr until it is loaded, when the agent's constructors run.
const Libunwind* LoadedLibunwind();

// `visitor(pc, sp)` returns false to end the walk. True if it did not.
template <typename Visitor>
__attribute__((noinline)) bool WalkByLibunwind(const Libunwind& library, Visitor& visitor) {
  unw_context_t context;
  unw_cursor_t cursor;
  GetContext(library, &context);
  library.init_local(&cursor, &context);
  std::uint64_t exact = 0;
  do {
    unw_word_t pc = 0;
    unw_word_t sp = 0;
    library.get_reg(&cursor, UNW_REG_IP, &pc);
    library.get_reg(&cursor, UNW_REG_SP, &sp);
    if (pc == 0) return true;
    if (!visitor(pc + exact, sp)) return false;
    exact = IsSignalTrampoline(pc) ? 1 : 0;
  } while (library.step(&cursor) > 0);
  return true;
}

template <typename Visitor>
__attribute__((noinline)) bool WalkByLibgcc(Visitor& visitor) {
  struct Walk {
    Visitor& visitor;
    bool is_ended_by_visitor = false;
  } walk{visitor};
  const auto visit = [](_Unwind_Context* context, void* argument) {
    auto& at = *static_cast<Walk*>(argument);
    int is_exact = 0;
    const std::uint64_t pc = _Unwind_GetIPInfo(context, &is_exact);
    if (pc == 0) return _URC_NO_REASON;
    at.is_ended_by_visitor = !at.visitor(pc + (is_exact != 0 ? 1 : 0), _Unwind_GetCFA(context));
    return at.is_ended_by_visitor ? _URC_END_OF_STACK : _URC_NO_REASON;
  };
  _Unwind_Backtrace(visit, &walk);
  return !walk.is_ended_by_visitor;
}

}  // namespace leakgate::check
