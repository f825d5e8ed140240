// A function that sets up x29 keeps its caller's x29 at the address in its own, and its return
// address above that. Only the compiler knows how far the function's own frame reaches.
#pragma once

#include LEAKGATE_ARCH(return_address)

#ifdef __clang__
#define LEAKGATE_STACK_AT_ENTRY() __builtin_sponentry()
#else
#define LEAKGATE_STACK_AT_ENTRY() __builtin_dwarf_cfa()
#endif

#define LEAKGATE_CALLER_FRAME()                                            \
  ::leakgate::agent::CallerFrame {                                         \
    ::leakgate::agent::WithoutSignature(                                   \
        static_cast<const std::uint64_t*>(__builtin_frame_address(0))[1]), \
        reinterpret_cast<std::uint64_t>(LEAKGATE_STACK_AT_ENTRY()),        \
        static_cast<const std::uint64_t*>(__builtin_frame_address(0))[0]   \
  }
