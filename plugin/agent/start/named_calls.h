// Functions of the program's that budget files name ("allocators"), as their hooks find the agent.
#pragma once

#include <cstdint>

#include "common/entry_hooks.h"

namespace leakgate::agent {

// What the code of a hook has pushed. The first member is read by code of the processor
// (arch/*/named_entry.h).
struct NamedCallPlace {
  std::uint64_t moved;  // the function as it was
  NamedCallSpec spec;
};

// Returns the place of the function with this number, below EntryHooks::kMostNamed. Defined where
// its calls are recorded (interpose/interpose_named.cpp).
[[nodiscard]] NamedCallPlace& PlaceOfNamedCall(std::uint32_t number);
// Returns the code that calls such a function and has the call recorded. Defined there, too.
[[nodiscard]] void* CodeThatCallsNamed();

}  // namespace leakgate::agent
