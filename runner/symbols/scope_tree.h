// The namespaces, classes and functions of one unit of debug information, by what is in
// them: DWARF leads from a scope down to its members, never up again.
//
// Made by one walk over the unit, which costs as much as elfutils' dwarf_getscopes_die
// does for a single entry.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <limits>
#include <vector>

namespace leakgate {

class ScopeTree {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // A namespace, class, function, or a block in one.
  struct Scope {
    Dwarf_Die die;
    Dwarf_Off begin;
    Dwarf_Off end;       // of the entry behind it; unknown for the last one of a scope
    std::size_t around;  // the scope that it is in; kNone: the unit
  };

  // `unit` is the unit's own entry.
  explicit ScopeTree(Dwarf_Die unit);

  // The innermost scope around the unit's entry at `offset`, to be asked for by At();
  // kNone: the unit itself.
  [[nodiscard]] std::size_t Around(Dwarf_Off offset) const;
  [[nodiscard]] const Scope& At(std::size_t scope) const { return scopes_[scope]; }

 private:
  static constexpr Dwarf_Off kUnknown = std::numeric_limits<Dwarf_Off>::max();

  void Collect(Dwarf_Die* die, std::size_t around, int depth);

  std::vector<Scope> scopes_;  // by where they begin
  Dwarf_Off reached_;
};

}  // namespace leakgate
