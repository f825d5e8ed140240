// Marks variables that several of the agent's files share. The compiler then accesses them
// directly, and not through the global offset table.
#pragma once

#define LEAKGATE_INTERNAL __attribute__((visibility("hidden")))
