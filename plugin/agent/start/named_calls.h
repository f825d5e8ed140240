// Functions of the program's that budget files name ("allocators"), as their hooks find the agent.
#pragma once

#include <cstdint>

#include "common/entry_hooks.h"

namespace leakgate::agent {

struct NamedCallFrame;

// What the code of a hook has pushed. The addresses are read by code of the processor
// (arch/*/named_entry.h).
struct NamedCallPlace {
  std::uint64_t moved;  // the function as it was
  // Returns whether `ends` is to be called when the function has returned.
  std::uint64_t (*begins)(const NamedCallPlace& place, const NamedCallFrame& call,
                          const std::uint64_t* frame);
  void (*ends)(const NamedCallPlace& place, const NamedCallFrame& call, const std::uint64_t* frame,
               std::uint64_t result);
  NamedCallSpec spec;
};

// Makes the place of the function with this number, below EntryHooks::kMostNamed. Defined where its
// calls are recorded (interpose/interpose_named.cpp).
[[nodiscard]] NamedCallPlace& MakeNamedCallPlace(std::uint32_t number, std::uint64_t moved,
                                                 const NamedCallSpec& spec);
// Returns the code that calls such a function and has the call recorded. Defined there, too.
[[nodiscard]] void* CodeThatCallsNamed();

}  // namespace leakgate::agent
