// Demangled function names as a person wants to read them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// The qualified name alone, without return type, template arguments and
// parameters: "void std::vector<int>::push_back(int&&)" -> "std::vector::push_back".
[[nodiscard]] std::string QualifiedName(std::string_view function);

// The whole signature with std::string spelt so, and where it is still long,
// template arguments as "<..>", then parameters as "(..)".
[[nodiscard]] std::string ReadableSignature(std::string_view function);

}  // namespace leakgate
