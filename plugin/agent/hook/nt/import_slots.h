// The slots of import tables, through which a library calls the functions of others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leakgate::agent {

// What has the address `from` is to lead to `to`.
struct SlotChange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

// Changes each slot of the library or program at `base` that has one of these addresses, by
// whatever name it was imported. Returns how many those were.
std::size_t ChangeImportSlots(std::uint64_t base, const SlotChange* changes, std::size_t count);

// Does so in the program and in all libraries that are loaded, but for the one at `agent`.
// REQUIRES: the library list is there; no other thread runs.
void ChangeAllImportSlots(std::uint64_t agent, const SlotChange* changes, std::size_t count);

// Writes to memory that may be read-only, and may have code that another thread runs. Returns false
// if the system refuses it.
[[nodiscard]] bool Overwrite(void* place, const void* value, std::size_t bytes);

}  // namespace leakgate::agent
