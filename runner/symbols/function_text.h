// Demangled function names as a person wants to read them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// Returns the shortest name that still says which function it is, without return type,
// template arguments and parameters:
//   "void std::vector<int>::push_back(int&&)"             ->  "std::vector::push_back"
//   "net::Run(int)::{lambda()#1}::operator()(int) const"  ->  "net::Run::{lambda}::operator()"
[[nodiscard]] std::string ShortName(std::string_view function);

// Returns the whole signature with std::string spelt so, and where it is still long,
// template arguments as "<..>", then parameters as "(..)".
[[nodiscard]] std::string ReadableSignature(std::string_view function);

}  // namespace leakgate
