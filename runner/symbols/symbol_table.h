// Finds functions by address in a module's symbol tables.
//
// A symbol names an address only within its own size. Debian's libc has only its exported
// symbols, with internal functions between them: the nearest symbol, which most tools take,
// would be the wrong function.
//
// Used by ModuleFile. Addresses are those in the file.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "runner/symbols/range_map.h"

namespace leakgate {

class SymbolTable {
 public:
  // Reads the full symbol table of the file or of its debug file, or else the exported symbols.
  // `module` owns the names and must outlive this.
  explicit SymbolTable(Dwfl_Module* module);

  // Returns the symbol, as the linker spells it, of the function that has `address`; empty if no
  // function has it.
  [[nodiscard]] std::string NameAt(std::uint64_t address) const;

 private:
  RangeMap<std::string_view> functions_;
};

}  // namespace leakgate
