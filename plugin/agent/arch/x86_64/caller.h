// A function that sets up rbp finds the caller's rbp at the address in its own, the return address
// above it, and above that the caller's stack.
#pragma once

#define LEAKGATE_CALLER_FRAME()                                           \
  ::leakgate::agent::CallerFrame {                                        \
    reinterpret_cast<std::uint64_t>(__builtin_return_address(0)),         \
        reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) + 16, \
        *static_cast<const std::uint64_t*>(__builtin_frame_address(0))    \
  }
