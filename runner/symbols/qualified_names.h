// Functions' names from a module's debug information, with the namespaces, classes and
// functions around them. For functions that have no linkage name there: those of C, and
// those that GCC keeps to one translation unit.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

#include "runner/symbols/scope_tree.h"

namespace leakgate {

// Of one module, which outlives it. Its first name in a unit takes a walk over that.
class QualifiedNames {
 public:
  // "net::Pool<int>::Grow"; without parameters. Empty if it has no name.
  [[nodiscard]] std::string Of(Dwarf_Die function) { return Of(function, 0); }

 private:
  std::string Of(Dwarf_Die function, int depth);
  const ScopeTree* TreeOf(Dwarf_Die die);

  std::unordered_map<const void*, ScopeTree> trees_;  // by the unit's first entry in memory
};

}  // namespace leakgate
