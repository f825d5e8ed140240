// Walks the process's heaps for the runner (common/nt_heap_walk.h).
#pragma once

#include "common/region_layout.h"

namespace leakgate::agent {

// Walks them if the runner wants that. Called by the thread that waits for an answer. Leaves no
// addresses of blocks on the stack.
void WalkHeapsIfWanted(Mailbox& mailbox);

}  // namespace leakgate::agent
