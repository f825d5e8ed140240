// The module that has an address, looked for in the kernel's list of mappings: for find_object.h,
// where the dynamic linker cannot be asked.
//
//   7f10'0000-7f10'2000 r--p 00000000  libfoo.so     <- its ELF header; what is remembered is where
//   7f10'2000-7f10'8000 r-xp 00002000  libfoo.so        this begins
//   7f10'8000-7f10'9000 rw-p 00008000  libfoo.so
//
// Whatever is said of a module is read from its ELF header each time, so that one which has gone,
// or another one in its place, is never told of by what was there before. Takes no lock, allocates
// nothing, and has the kernel read what another thread may unmap meanwhile.
#pragma once

#include <cstdint>

#include "plugin/agent/linux/loaded_object.h"

namespace leakgate::agent {

// Returns false if `address` is in no module, or if it is not known where that begins, and the
// kernel's list cannot be had.
[[nodiscard]] bool SearchObject(std::uint64_t address, LoadedObject& object);

// Reads the module whose ELF header is at `begin`. Returns false if there is none, or if it does
// not have `address`.
[[nodiscard]] bool ReadObjectAt(std::uint64_t begin, std::uint64_t address, LoadedObject& object);

// Remembers where all modules begin that are loaded now, for when the list cannot be had any more:
// the process may change its root, or have no descriptor left.
void RememberObjects();

// The same for a process that may be about to forbid itself system calls, on pain of death. The
// list is not read again, and headers are read without the kernel, having asked it whether they can
// be.
void RememberObjectsForGood();

// Forgets which memory was found to be in no module: one may be mapped there next.
void ForgetGaps();

}  // namespace leakgate::agent
