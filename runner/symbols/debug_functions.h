// The functions and lines that a module's debug information (DWARF 2 to 5,
// split or not) tells of, by address.
//
// It keeps an index of its own: elfutils finds a compilation unit by the
// .debug_aranges section, which Clang does not write. Units are read when an
// address in them is first asked for.
//
// Used by ModuleFile. Broken debug information costs frames, never an endless
// walk.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "runner/symbols/frame.h"
#include "runner/symbols/qualified_names.h"
#include "runner/symbols/range_map.h"

namespace leakgate {

// One function at an address, as far as debug information names it.
struct DebugFunction {
  std::string linkage_name;  // as the linker spells it
  std::string name;          // without parameters; where the other is missing or unreadable
  SourcePosition position;
};

class DebugFunctions {
 public:
  explicit DebugFunctions(Dwfl_Module* module);

  // The functions at `address`, an address in the file, with those that were
  // inlined there: the innermost first. Empty if nothing is known of it.
  [[nodiscard]] std::vector<DebugFunction> At(std::uint64_t address);

 private:
  struct Unit {
    Dwarf_Die lines;        // what the line table hangs on
    Dwarf_Die functions;    // the same, or the split file's
    std::string directory;  // that relative file names start from
    bool read = false;
    RangeMap<Dwarf_Die> by_address = {};
  };

  static void Read(Unit& unit);
  static SourcePosition LineAt(Unit& unit, Dwarf_Addr address);
  static SourcePosition CallOf(Unit& unit, Dwarf_Die* inlined);

  Dwarf_Addr bias_ = 0;
  std::deque<Unit> units_;
  RangeMap<Unit*> unit_by_address_;
  QualifiedNames names_;
};

}  // namespace leakgate
