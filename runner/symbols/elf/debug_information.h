// A module's debug information (DWARF): its units, walks over their entries, and the names of
// functions.
//
// Debug information names other files. elfutils opens them whatever they are, so this room first
// checks what elfutils would open: it must be a regular file. The debug information is not trusted
// either: a walk over it always ends. Used by one thread at a time.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

namespace leakgate {

struct DebugInformation {
  // Null if there is none, or if it names something other than a regular file.
  Dwarf* dwarf = nullptr;
  Dwarf_Addr bias = 0;
  // Where the files are that hold it: what they name by a relative path is looked for there.
  std::vector<std::filesystem::path> directories = {};
};
[[nodiscard]] DebugInformation FindDebugInformation(Dwfl_Module* module);

// Returns whether other files hold parts of it. They may be missing now and be there later.
[[nodiscard]] bool HasPartsElsewhere(const DebugInformation& information);

// Returns the text of `attribute`, which lives as long as the debug information; null if the
// entry has none.
[[nodiscard]] const char* TextOf(Dwarf_Die entry, unsigned attribute);

// Returns whether `unit` may be asked for its other half, which -gsplit-dwarf puts into a file
// of its own.
[[nodiscard]] bool MayReadSplitHalf(const DebugInformation& information, Dwarf_Die unit);

// Calls `visit(unit, details)` for each compilation unit until it returns false. `details` is
// the half that -gsplit-dwarf has put into another file, or the unit itself if it is not split.
// REQUIRES: `information.dwarf` is not null.
template <typename Visit>
void ForEachUnit(const DebugInformation& information, Visit visit) {
  Dwarf_CU* cu = nullptr;
  std::uint8_t type = 0;
  Dwarf_Die unit;
  while (dwarf_get_units(information.dwarf, cu, &cu, nullptr, &type, &unit, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    Dwarf_Die split{};
    if (type == DW_UT_skeleton) {
      // Any question about the unit may make libdw look for the other half.
      if (!MayReadSplitHalf(information, unit)) continue;
      dwarf_cu_info(cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr);
    }
    if (!visit(unit, split.addr != nullptr ? split : unit)) return;
  }
}

// No compiler nests entries deeper.
inline constexpr int kMostNestedEntries = 200;

// Calls `use(child)` for each child of `entry` until it returns false. All calls of one walk, at
// any depth, share `reached`, the offset of the last entry that the walk has reached: in valid
// debug information offsets only grow, so a walk ends where they do not.
template <typename Use>
void ForEachChild(Dwarf_Die* entry, Dwarf_Off& reached, Use use) {
  Dwarf_Die child;
  if (dwarf_child(entry, &child) != 0) return;
  do {
    const Dwarf_Off offset = dwarf_dieoffset(&child);
    if (offset <= reached) return;  // broken
    reached = offset;
  } while (use(child) && dwarf_siblingof(&child, &child) == 0);
}

// Returns whether functions and variables may be defined in an entry of this tag. Types hold
// declarations only.
[[nodiscard]] constexpr bool MayHoldDefinitions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
         tag == DW_TAG_lexical_block;
}

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

// Names functions with the namespaces, classes and functions around them. This is for functions
// that have no linkage name: those of C, and those that GCC keeps to one translation unit. The
// module must outlive this. The first name in a unit costs a walk over the unit.
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
