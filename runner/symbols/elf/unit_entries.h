// Finds the entries of a unit of debug information that define functions and variables, without
// reading the entries between them: a unit has a hundred thousand entries, most of them types. The
// found entries are then read with libdw, which takes ten times as long for an entry.
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

// Returns the offsets of such entries in the order in which they stand. Returns nullopt if the unit
// contains something unknown, or is broken: then the caller must walk over it with libdw.
[[nodiscard]] std::optional<UnitEntries> FindEntries(Dwarf_Die unit);

}  // namespace leakgate
