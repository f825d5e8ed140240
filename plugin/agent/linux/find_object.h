// The module that has an address, found without a lock, from any thread, at any time.
//
// glibc 2.35 and later tell it (_dl_find_object). The only function of an older one that does so
// waits for the dynamic linker's lock, which may be held by a thread that waits for this one. There
// the module is looked for in the kernel's list of mappings (object_search.h).
#pragma once

#include "plugin/agent/linux/loaded_object.h"

namespace leakgate::agent {

// Whether the C library tells it, and does so only once the module is relocated.
[[nodiscard]] bool LoaderFindsObjects();

// Returns false if `address` is in no module.
[[nodiscard]] bool FindObject(const void* address, LoadedObject& object);

// To be called when the process begins, when it may be about to forbid itself system calls, and
// when memory may be used for something else from now on than it was: as the list of mappings may
// not be read any more, or is not read each time. Do nothing where the C library is asked.
void LearnObjects();
void LearnObjectsForGood();
void ForgetWhereNoObjectIs();

// Returns the dynamic linker's entry of the module that has `address`; nullptr if it is in none.
// REQUIRES: nobody loads or unloads modules just now, as when the process begins.
[[nodiscard]] const link_map* FindLinkMap(const void* address);

// Returns the first of all entries, in the order of loading: the program's.
[[nodiscard]] const link_map* FirstLinkMap();

}  // namespace leakgate::agent
