// A linker symbol as C++ spells it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// What the compiler appended to tell its own copies of a function apart
// (".isra.0", ".cold") is dropped. A name that is not mangled stays as it is.
[[nodiscard]] std::string Demangle(const std::string& symbol);

// A source file's path, of what debug information has. Pure.

// `file` as seen from `directory`, the compilation's; either may be null. Relative
// where the build has cut off what differs from machine to machine.
[[nodiscard]] std::string SourcePath(const char* directory, const char* file);

// Takes a demangled function apart, as far as attribution asks. Pure.

// The qualified name in `function`, without return type, parameters and ABI
// tags; template arguments and enclosing functions stay:
//   "void std::vector<int>::push_back(int const&)"  ->  "std::vector<int>::push_back"
//   "net::Run(int)::{lambda()#1}::operator()() const"
//                                       ->  "net::Run(int)::{lambda()#1}::operator()"
[[nodiscard]] std::string QualifiedNameOf(std::string_view function);

}  // namespace leakgate
