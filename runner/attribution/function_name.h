// Takes a demangled function apart, as far as attribution asks. Pure.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// The qualified name in `function`, without return type, parameters and ABI
// tags; template arguments and enclosing functions stay:
//   "void std::vector<int>::push_back(int const&)"  ->  "std::vector<int>::push_back"
//   "net::Run(int)::{lambda()#1}::operator()() const"
//                                       ->  "net::Run(int)::{lambda()#1}::operator()"
[[nodiscard]] std::string QualifiedNameOf(std::string_view function);

}  // namespace leakgate
