// Whether a program can be started with the agent preloaded, as its file shows.
//
// All programs that a test starts inherit the variables that preload the agent, including programs
// that the user has not built. If such a program is for another processor, the dynamic linker
// prints an error. If it has another C library, or a sanitizer's runtime that must come first, it
// does not start.
//
// Used by fork and vfork children as well: reads the file, and keeps nothing.
#pragma once

namespace leakgate::agent {

// Also true if the file cannot be read, or if preloading has no effect on it, as on a static
// program.
[[nodiscard]] bool TakesAgent(const char* path);

}  // namespace leakgate::agent
