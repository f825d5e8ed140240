// A linker symbol as C++ spells it. Pure.
#pragma once

#include <string>

namespace leakgate {

// What the compiler appended to tell its own copies of a function apart
// (".isra.0", ".cold") is dropped. A name that is not mangled stays as it is.
[[nodiscard]] std::string Demangle(const std::string& symbol);

}  // namespace leakgate
