// Names functions with the namespaces, classes and functions around them, by a module's debug
// information. This is for functions that have no linkage name there: those of C, and those that
// GCC keeps to one translation unit. Used by DebugFunctions.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

namespace leakgate {

// The scopes of one unit of debug information. It finds the scope around an entry: DWARF leads
// from a scope down to its members, but never up again.
//
// One walk over the unit builds it, which costs as much as elfutils' dwarf_getscopes_die does
// for a single entry.
class ScopeTree {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // A namespace, class, function, or a block in one.
  struct Scope {
    Dwarf_Die die;
    Dwarf_Off begin;
    Dwarf_Off end;       // where the next entry begins; kUnknown for the last one of a scope
    std::size_t around;  // the number of the scope that it is in; kNone if that is the unit
  };

  explicit ScopeTree(Dwarf_Die unit);

  // Returns the number of the innermost scope around the unit's entry at `offset`; kNone if
  // there is none but the unit.
  [[nodiscard]] std::size_t Around(Dwarf_Off offset) const;
  [[nodiscard]] const Scope& At(std::size_t scope) const { return scopes_[scope]; }

 private:
  static constexpr Dwarf_Off kUnknown = std::numeric_limits<Dwarf_Off>::max();

  void Collect(Dwarf_Die* die, std::size_t around, int depth);

  std::vector<Scope> scopes_;  // by where they begin
  Dwarf_Off reached_;
};

// The module must outlive this. The first name in a unit costs a walk over the unit.
class QualifiedNames {
 public:
  // Returns a name such as "net::Pool<int>::Grow", without parameters; empty if the function
  // has no name.
  [[nodiscard]] std::string Of(Dwarf_Die function) { return Of(function, 0); }

 private:
  std::string Of(Dwarf_Die function, int depth);
  const ScopeTree* TreeOf(Dwarf_Die die);

  std::unordered_map<const void*, ScopeTree> trees_;  // by the unit's first entry in memory
};

}  // namespace leakgate
