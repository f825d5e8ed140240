// Finds functions and source lines by address in a module's debug information (DWARF 2 to 5,
// split or not).
//
// It keeps an index of its own, because elfutils finds a compilation unit by the .debug_aranges
// section, which Clang does not write. A unit is read when an address in it is first asked for.
//
// Used by ModuleFile. If debug information is broken, frames are missing; the walk always ends.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "runner/symbols/debug_function.h"
#include "runner/symbols/elf/debug_information.h"
#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/frame.h"
#include "runner/symbols/named_functions.h"

namespace leakgate {

// How a function is called.
struct FunctionParameters {
  bool has_object = false;           // with `this`
  std::vector<ParameterKind> kinds;  // of the others
};

class DebugFunctions {
 public:
  // `module` must outlive this.
  explicit DebugFunctions(Dwfl_Module* module);

  // Returns the functions at `address`, an address in the file, including those that were inlined
  // there, innermost first. Empty if no unit has the address.
  [[nodiscard]] std::vector<DebugFunction> At(std::uint64_t address);

  // Returns nothing if no function has the address.
  [[nodiscard]] std::optional<FunctionParameters> ParametersAt(std::uint64_t address);

 private:
  struct Unit {
    Dwarf_Die lines;        // has the line table
    Dwarf_Die functions;    // has the functions: the same entry, or the one in the split file
    std::string directory;  // where relative file names start
    bool read = false;
    RangeMap<Dwarf_Die> by_address = {};
  };

  static void ReadFunctions(Unit& unit);
  // Uses the line table.
  static SourcePosition LineAt(Unit& unit, Dwarf_Addr address);
  // Returns where the inlined function was called.
  static SourcePosition CallPosition(Unit& unit, Dwarf_Die* inlined);

  Dwarf_Addr bias_ = 0;
  std::deque<Unit> units_;
  RangeMap<Unit*> unit_by_address_;
  QualifiedNames names_;
};

}  // namespace leakgate
