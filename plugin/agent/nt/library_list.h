// The libraries that are loaded, and the program: where each is, and the path of its file. The
// loader tells of each that comes or goes, so that nothing need be asked later, when a lock of the
// loader's may be held.
//
// Found without a lock, on any thread. The loader's lock is held while the list changes.
#pragma once

#include <cstdint>

#include "common/region_layout.h"

namespace leakgate::agent {

struct Library {
  std::uint64_t begin = 0;  // 0: it has gone
  std::uint64_t end = 0;
  const char* path = nullptr;  // UTF-8; stays there when the library has gone
};

// Lists what is loaded, and what comes later. Returns false if that cannot be. REQUIRES: called
// while the agent's library is initialised; g_ntdll is filled in.
[[nodiscard]] bool StartLibraryList();

// Returns the library that has `address`; `begin` is 0 if there is none.
[[nodiscard]] Library FindLibrary(std::uint64_t address);

// Calls `use(base)` for each that is there now. REQUIRES: as StartLibraryList.
void ForEachLibrary(void (*use)(std::uint64_t base));

// Called when a library is about to go. Set before StartLibraryList.
extern void (*g_on_library_gone)();

}  // namespace leakgate::agent
