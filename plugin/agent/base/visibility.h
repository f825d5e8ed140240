// For variables that several of the agent's files share: reached directly, not
// through the global offset table, as the compiler must without it.
#pragma once

#define LEAKGATE_INTERNAL __attribute__((visibility("hidden")))
