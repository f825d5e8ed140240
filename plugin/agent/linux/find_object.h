// Finds the module that has an address, without a lock, on any thread, at any time.
//
// glibc 2.35 and later have a function for that (_dl_find_object). The only function of older
// versions waits for the dynamic linker's lock, which may be held by a thread that waits for this
// one. With these, the module is searched for in the kernel's list of mappings (object_search.h).
#pragma once

#include "plugin/agent/linux/loaded_object.h"

namespace leakgate::agent {

// Returns whether the C library has such a function, and finds a module only once it is relocated.
[[nodiscard]] bool LoaderFindsObjects();

// Returns false if `address` is in no module.
[[nodiscard]] bool FindObject(const void* address, LoadedObject& object);

// Must be called when the process begins, when it may be about to forbid itself system calls, and
// when memory may from now on be used for something else than before: the list of mappings may not
// be readable later, and is not read each time. These do nothing if the C library has such a
// function.
void LearnObjects();
void LearnObjectsForGood();
void ForgetWhereNoObjectIs();

// Returns the dynamic linker's entry of the module that has `address`; nullptr if it is in none.
// REQUIRES: no thread loads or unloads modules at the moment, as when the process begins.
[[nodiscard]] const link_map* FindLinkMap(const void* address);

// Returns the first of all entries, in the order of loading: that of the program.
[[nodiscard]] const link_map* FirstLinkMap();

}  // namespace leakgate::agent
