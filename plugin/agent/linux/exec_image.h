// Whether a program can be started with the agent preloaded, by its file: the variables that
// preload it are inherited by all that a test starts, other people's programs among it. Of
// another architecture, the dynamic linker complains; of another C library, or with a
// sanitizer's runtime that must come first, the program does not start.
//
// Used from fork and vfork children as well: reads the file, and keeps nothing.
#pragma once

namespace leakgate::agent {

// Also where the file cannot be read, or preloading means nothing to it, as to a static program.
[[nodiscard]] bool TakesAgent(const char* path);

}  // namespace leakgate::agent
