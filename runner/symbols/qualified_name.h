// A function's name from its debug information, with the namespaces, classes
// and functions around it. For functions that have no linkage name there: those
// of C, and those that GCC keeps to one translation unit.
#pragma once

#include <elfutils/libdw.h>

#include <string>

namespace leakgate {

// "net::Pool<int>::Grow"; without parameters. Empty if it has no name.
[[nodiscard]] std::string QualifiedName(Dwarf_Die* function);

}  // namespace leakgate
