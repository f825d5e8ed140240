// leakgate_call_named is where hooked functions go that budget files name, with a pointer to three
// addresses pushed in front of the return address (common/entry_hooks.h): of the function, and of
// what is called before and after it (start/named_calls.h). It calls the function as the program's
// caller has, whatever the arguments are. An exception passes through (named_exception.h).
//
// Of the arguments on the stack, so many words are passed on; nobody passes more to a function that
// allocates. Registers are kept as in hooked_entry.h.
#pragma once

#include <cstdint>

#include "plugin/agent/arch/caller_frame.h"

extern "C" __attribute__((visibility("hidden"))) void leakgate_call_named();

namespace leakgate::agent {

// What leakgate_call_named has kept of the call.
struct NamedCallFrame {
  std::uint64_t kept[6];  // rcx, rdx, rsi, rdi, r8, r9
  std::uint64_t scratch[4];

  // Argument `i` of those in registers, from 0.
  [[nodiscard]] std::uint64_t Argument(std::uint8_t i) const {
    constexpr std::uint8_t kPlaces[] = {3, 2, 1, 0, 4, 5};
    return kept[kPlaces[i % 6]];
  }
};

// `frame` is the frame pointer of leakgate_call_named.
inline CallerFrame CallerOfNamed(const std::uint64_t* frame) {
  return {frame[2], reinterpret_cast<std::uint64_t>(frame + 3), frame[0]};
}

}  // namespace leakgate::agent
