// A walk over the children of a debugging information entry that ends soon, however broken
// the debug information is.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

namespace leakgate {

// Deeper nesting is not of a compiler's making.
inline constexpr int kMostNestedEntries = 200;

// Calls `use(child)` for each child of `die`, until it returns false. `reached` is the offset
// of the last entry that a whole walk, with those of children's children, has come to: in
// sound debug information they come one after the other, and none is met twice.
template <typename Use>
void ForEachChild(Dwarf_Die* die, Dwarf_Off& reached, Use use) {
  Dwarf_Die child;
  if (dwarf_child(die, &child) != 0) return;
  do {
    const Dwarf_Off offset = dwarf_dieoffset(&child);
    if (offset <= reached) return;  // broken
    reached = offset;
  } while (use(child) && dwarf_siblingof(&child, &child) == 0);
}

// The namespaces, classes and functions of one unit of debug information, by what is in
// them: DWARF leads from a scope down to its members, never up again.
//
// Made by one walk over the unit, which costs as much as elfutils' dwarf_getscopes_die
// does for a single entry.

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

// Functions' names from a module's debug information, with the namespaces, classes and
// functions around them. For functions that have no linkage name there: those of C, and
// those that GCC keeps to one translation unit.

// Of one module, which outlives it. Its first name in a unit takes a walk over that.
class QualifiedNames {
 public:
  // "net::Pool<int>::Grow"; without parameters. Empty if it has no name.
  [[nodiscard]] std::string Of(Dwarf_Die function) { return Of(function, 0); }

 private:
  std::string Of(Dwarf_Die function, int depth);
  const ScopeTree* TreeOf(Dwarf_Die die);

  std::unordered_map<const void*, ScopeTree> trees_;  // by the unit's first entry in memory
};

}  // namespace leakgate
