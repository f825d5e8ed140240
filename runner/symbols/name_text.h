// Texts of names: demangled functions, also in readable forms, and paths of source files. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leakgate {

// Returns a linker symbol as C++ spells it. Drops what the compiler has appended to its own copies
// of a function (".isra.0", ".cold"). Returns a name that is not mangled, or whose spelling has no
// reasonable length (demangler.h), as it is.
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

// Returns the shortest name that still says which function it is, without return type,
// template arguments and parameters:
//   "void std::vector<int>::push_back(int&&)"             ->  "std::vector::push_back"
//   "net::Run(int)::{lambda()#1}::operator()(int) const"  ->  "net::Run::{lambda}::operator()"
[[nodiscard]] std::string ShortName(std::string_view function);

// Returns the whole signature with std::string spelt so, and where it is still long,
// template arguments as "<..>", then parameters as "(..)", then cut in the middle.
[[nodiscard]] std::string ReadableSignature(std::string_view function);

// Returns the qualified name, shortened likewise where it is long.
[[nodiscard]] std::string ReadableName(std::string_view function);

// Returns `text` with " ... " for its middle if it has more than `most` code points.
[[nodiscard]] std::string CutMiddle(std::string_view text, std::size_t most);

}  // namespace leakgate
