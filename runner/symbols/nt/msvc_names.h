// Names of functions as PDBs have them, in the spelling of all others. Pure.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// Budgets and the rules for frameworks have names in the spelling of Itanium's C++ ABI:
//
//   std::vector<int,std::allocator<int> >::push_back   std::vector<int, std::allocator<int>
//   >::push_back `anonymous namespace'::Make                         (anonymous namespace)::Make
//   net::Run::<lambda_1>::operator()                    net::Run::{lambda_1}::operator()
//   Pool<class net::Block>::Grow                        Pool<net::Block>::Grow
//   _ZN3net4MakeEv, as of code that Clang compiles for mingw-w64 without debug information
//                                                       net::Make()
[[nodiscard]] std::string ItaniumSpelling(std::string_view name);

}  // namespace leakgate
