// Finds where the compiler has put functions into their callers: there, nobody calls them.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace leakgate {

struct SoughtFunctions {
  std::set<std::string> symbols;        // as the linker spells them
  std::set<std::uint64_t> addresses;    // of all of them, in the file: those may have them inlined
  std::set<std::uint64_t> in_own_unit;  // those that only their own unit of compilation can inline
};

// Returns for each symbol that was inlined into another function where that is, such as "net::Load
// (net.cc:12)". Units that cannot have inlined one are not read. What debug information does not
// tell is left out.
[[nodiscard]] std::map<std::string, std::string> FindInlinedCalls(Dwfl_Module* module,
                                                                  const SoughtFunctions& sought);

}  // namespace leakgate
