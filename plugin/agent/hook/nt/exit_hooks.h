// Sees the program's end before destructors of static objects run, where the program ends by a
// function of a runtime in a library of its own (ucrtbase, msvcrt): exit, _exit, quick_exit. The
// start-up code that calls main calls exit, too. Where the program has such a runtime, it may also
// call ExitProcess instead.
//
// With a runtime that is linked in, only ExitProcess is imported, which is called once destructors
// have run. There leakgate's listener announces the end, by an exit handler.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// REQUIRES: the library list is there; no other thread runs.
void InstallExitHooks(std::uint64_t agent);

}  // namespace leakgate::agent
