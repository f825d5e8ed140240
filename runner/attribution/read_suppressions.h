// Suppression files of other tools, which `leakgate adopt --suppressions` takes over. What is in a
// file tells whose it is:
//
//   # of LeakSanitizer                 # of valgrind
//   leak:net::Cache                    {
//   leak:libold.so                        the cache of net
//                                         Memcheck:Leak
//                                         match-leak-kinds: definite
//                                         fun:malloc
//                                         ...
//                                         fun:_ZN3net5Cache*
//                                      }
//
// Pure. The text is not trusted.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

struct Suppression {
  std::string place;                  // "lsan.supp:3"
  std::string name;                   // "leak:net::Cache", or what valgrind's has as its name
  std::string why_not{};              // why it is not about leaks; empty if it is
  std::string leak_pattern{};         // LeakSanitizer's
  std::vector<std::string> frames{};  // valgrind's, innermost first; empty: it is LeakSanitizer's
  std::set<std::string, std::less<>> kinds{};  // valgrind's: "definite", ..; empty: all
};

// Returns the suppressions of the text of `file`. Fails with a usage error if it has none, or if a
// line cannot be understood.
[[nodiscard]] Expected<std::vector<Suppression>> ParseSuppressions(const std::string& file,
                                                                   std::string_view text);

}  // namespace leakgate
