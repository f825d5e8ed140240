// Finds functions of an executable by the names that people write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace leakgate {

enum class ParameterKind {
  kInteger,  // or a pointer or reference
  kFloating,
  kOther,  // such as a structure, which is passed in ways of its own
};

struct FoundFunction {
  std::uint64_t address = 0;  // in the file
  std::uint64_t size_bytes = 0;
  bool has_object = false;  // it is called with `this`, by the debug information
  // What is in the parentheses; empty if there is no debug information.
  std::vector<ParameterKind> parameters{};
  // Its symbol, if it is a copy with other arguments, which the compiler has made; else empty.
  std::string changed_symbol{};
  // A place where the compiler has put the function into a caller that is none of those that are
  // sought, such as "net::Load (net.cc:12)"; empty if there is none, by the debug information.
  std::string inlined_into{};
};

// Returns whether this system's programs are searched.
[[nodiscard]] bool FindsNamedFunctions();

// Returns for each of `names` the functions that have it, by address: overloads, and the kinds of a
// destructor. Names are qualified, without parameters; `matches` tells whether one is that of a
// function. What is not known is left out: of a file without symbols, everything. Nothing is found
// on Windows.
using MatchesName = bool (*)(std::string_view wanted, std::string_view name);
[[nodiscard]] std::vector<std::vector<FoundFunction>> FindNamedFunctions(
    const std::filesystem::path& executable, const std::vector<std::string>& names,
    MatchesName matches);

}  // namespace leakgate
