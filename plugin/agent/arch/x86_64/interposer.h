// LEAKGATE_CALLER() is LEAKGATE_CALLER_FRAME() without a stack frame, for interposed functions.
//
// GCC reserves rbp for a variable that is bound to it, in every file that sees the variable. So
// there, rbp is always the caller's. Only files that define interposed functions may include this.
#pragma once

#include <cstdint>

#include "plugin/agent/arch/caller_frame.h"

#ifdef __clang__
#define LEAKGATE_CALLER LEAKGATE_CALLER_FRAME
#else
register std::uint64_t g_callers_rbp asm("rbp");
#define LEAKGATE_CALLER()                                                     \
  ::leakgate::agent::CallerFrame {                                            \
    reinterpret_cast<std::uint64_t>(__builtin_return_address(0)),             \
        reinterpret_cast<std::uint64_t>(__builtin_dwarf_cfa()), g_callers_rbp \
  }
#endif
