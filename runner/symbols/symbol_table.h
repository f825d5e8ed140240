// The functions that a module's symbol tables name, by address.
//
// A symbol names an address only within its own size. Debian's libc has but
// its exported symbols, with internal functions between them: taking the
// nearest one, as most tools do, would charge memory to the wrong function.
//
// Used by ModuleFile. Addresses are the file's own.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "runner/symbols/range_map.h"

namespace leakgate {

class SymbolTable {
 public:
  // Reads the module's symbols: the full table of the file or its debug file,
  // else the exported ones. Names stay the module's: it must outlive this.
  explicit SymbolTable(Dwfl_Module* module);

  // The symbol, as the linker spells it, of the function that has `address`;
  // empty if none covers it.
  [[nodiscard]] std::string NameAt(std::uint64_t address) const;

 private:
  RangeMap<std::string_view> functions_;
};

}  // namespace leakgate
