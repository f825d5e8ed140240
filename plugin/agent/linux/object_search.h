// Searches for the module that has an address in the kernel's list of mappings. find_object.h uses
// this if the dynamic linker cannot be asked.
//
//   7f10'0000-7f10'2000 r--p 00000000  libfoo.so     <- its ELF header; what is remembered is where
//   7f10'2000-7f10'8000 r-xp 00002000  libfoo.so        this begins
//   7f10'8000-7f10'9000 rw-p 00008000  libfoo.so
//
// A module's facts are read from its ELF header each time. So if a module has gone, or another one
// is in its place, old facts are never returned. Takes no lock, allocates nothing, and lets the
// kernel read memory that another thread may unmap meanwhile.
#pragma once

#include <cstdint>

#include "plugin/agent/linux/loaded_object.h"

namespace leakgate::agent {

// Returns false if `address` is in no module, or if its begin is unknown and the kernel's list
// cannot be read.
[[nodiscard]] bool SearchObject(std::uint64_t address, LoadedObject& object);

// Reads the module whose ELF header is at `begin`. Returns false if there is none, or if it does
// not have `address`.
[[nodiscard]] bool ReadObjectAt(std::uint64_t begin, std::uint64_t address, LoadedObject& object);

// Remembers where all modules begin that are loaded now, for the time when the list cannot be read
// any more: the process may change its root, or have no descriptor left.
void RememberObjects();

// Does the same for a process that may be about to forbid itself system calls, under penalty of
// death. The list is not read again. Headers are read directly, after the kernel was asked whether
// they are readable.
void RememberObjectsForGood();

// Forgets which memory was found to be in no module, because a module may be mapped there next.
void ForgetGaps();

}  // namespace leakgate::agent
