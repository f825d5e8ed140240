// Whether a program can be started with the agent preloaded, as its file tells.
//
// All that a test starts inherits the variables that preload the agent, other people's programs
// among it. If such a program is for another processor, the dynamic linker complains. If it has
// another C library, or a sanitizer's runtime that must come first, it does not start.
//
// Used by fork and vfork children as well: reads the file, and keeps nothing.
#pragma once

namespace leakgate::agent {

// Also true if the file cannot be read, or if preloading means nothing to it, as to a static
// program.
[[nodiscard]] bool TakesAgent(const char* path);

}  // namespace leakgate::agent
