// Memory of the agent's own in the test process. The runner is told of it through the
// region: what points into the heap from there keeps nothing alive.
#pragma once

#include <cstddef>

namespace leakgate::agent {

// Tells the runner. Ranges beyond the table are only counted.
void NoteOwnMemory(const void* begin, std::size_t bytes);

// Anonymous private memory, zeroed, and noted; nullptr if there is none.
// REQUIRES: the region is mapped.
void* MapOwn(std::size_t bytes);

}  // namespace leakgate::agent
