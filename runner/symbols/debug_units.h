// The compilation units of a module's debug information, each with the half that
// -gsplit-dwarf put into a file of its own.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>

namespace leakgate {

// Calls `visit(unit, details)` for each: `details` is the unit itself where it is not
// split. Ends early where `visit` returns false.
template <typename Visit>
void ForEachUnit(Dwarf* dwarf, Visit visit) {
  Dwarf_CU* cu = nullptr;
  std::uint8_t type = 0;
  Dwarf_Die unit;
  Dwarf_Die split;
  while (dwarf_get_units(dwarf, cu, &cu, nullptr, &type, &unit, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    const bool is_split = type == DW_UT_skeleton && split.addr != nullptr;
    if (!visit(unit, is_split ? split : unit)) return;
  }
}

}  // namespace leakgate
