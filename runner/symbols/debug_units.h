// The compilation units of a module's debug information, each with the half that
// -gsplit-dwarf put into a file of its own.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>

#include "runner/symbols/separate_files.h"

namespace leakgate {

// Calls `visit(unit, details)` for each: `details` is the unit itself where it is not
// split. Ends early where `visit` returns false.
// REQUIRES: there is debug information.
template <typename Visit>
void ForEachUnit(const DebugInformation& information, Visit visit) {
  Dwarf_CU* cu = nullptr;
  std::uint8_t type = 0;
  Dwarf_Die unit;
  while (dwarf_get_units(information.dwarf, cu, &cu, nullptr, &type, &unit, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    Dwarf_Die split{};
    if (type == DW_UT_skeleton) {
      // Whatever is asked of the unit may have libdw look for its other half.
      if (!MayReadSplitHalf(information, unit)) continue;
      dwarf_cu_info(cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr);
    }
    if (!visit(unit, split.addr != nullptr ? split : unit)) return;
  }
}

}  // namespace leakgate
