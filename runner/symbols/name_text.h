// Text of names: demangled functions, qualified names, paths of source files. Pure.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// Returns a linker symbol as C++ spells it. Drops what the compiler has appended to its own copies
// of a function (".isra.0", ".cold"). Returns a name that is not mangled as it is.
[[nodiscard]] std::string Demangle(const std::string& symbol);

// Joins the names of a compilation's directory and of a source file, as debug information has
// them; either may be null. The path is relative if the build has removed the directories that
// differ from machine to machine. Returns an empty text if `file` is null.
[[nodiscard]] std::string SourcePath(const char* directory, const char* file);

// Returns the qualified name in the demangled `function`, without return type, parameters and ABI
// tags; template arguments and enclosing functions stay:
//   "void std::vector<int>::push_back(int const&)"  ->  "std::vector<int>::push_back"
//   "net::Run(int)::{lambda()#1}::operator()() const"
//                                       ->  "net::Run(int)::{lambda()#1}::operator()"
[[nodiscard]] std::string QualifiedNameOf(std::string_view function);

}  // namespace leakgate
