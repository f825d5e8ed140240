// Finds the entries of a unit of debug information that define functions and variables, without
// reading what stands between them: a unit has a hundred thousand entries, most of them types. What
// is found is read with libdw, which takes ten times as long for an entry.
//
// The debug information is not trusted: nothing is read outside of the unit.
#pragma once

#include <elfutils/libdw.h>

#include <optional>
#include <vector>

namespace leakgate {

struct UnitEntries {
  std::vector<Dwarf_Off> functions;  // with machine code
  std::vector<Dwarf_Off> variables;  // that stay at one place: globals and thread-locals
};

// Returns the offsets of such entries in the order in which they stand. Returns nullopt if the
// unit has something that is not known here, or is broken: then the caller has to walk over it.
[[nodiscard]] std::optional<UnitEntries> FindEntries(Dwarf_Die unit);

}  // namespace leakgate
