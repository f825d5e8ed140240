// A little memory for what the dynamic linker allocates while the agent asks
// it for the host's malloc. Never given back.
#pragma once

#include <cstddef>

namespace leakgate::agent::bootstrap_heap {

// Zeroed, aligned to 16; nullptr when the heap is used up.
void* Allocate(std::size_t bytes);
bool Owns(const void* block);
// The number of bytes that may be read at `block`. REQUIRES: Owns(block).
std::size_t Readable(const void* block);

}  // namespace leakgate::agent::bootstrap_heap
