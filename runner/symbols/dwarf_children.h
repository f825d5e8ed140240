// A walk over the children of a debugging information entry that ends soon, however broken
// the debug information is.
#pragma once

#include <elfutils/libdw.h>

namespace leakgate {

// Deeper nesting is not of a compiler's making.
inline constexpr int kMostNestedEntries = 200;

// Calls `use(child)` for each child of `die`, until it returns false. `reached` is the offset
// of the last entry that a whole walk, with those of children's children, has come to: in
// sound debug information they come one after the other, and none is met twice.
template <typename Use>
void ForEachChild(Dwarf_Die* die, Dwarf_Off& reached, Use use) {
  Dwarf_Die child;
  if (dwarf_child(die, &child) != 0) return;
  do {
    const Dwarf_Off offset = dwarf_dieoffset(&child);
    if (offset <= reached) return;  // broken
    reached = offset;
  } while (use(child) && dwarf_siblingof(&child, &child) == 0);
}

}  // namespace leakgate
