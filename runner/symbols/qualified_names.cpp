#include "runner/symbols/qualified_names.h"

#include <dwarf.h>

namespace leakgate {
namespace {

// A concrete function refers to its abstract one, and that to the declaration
// in its class: two steps, in sound debug information.
constexpr int kMostReferences = 16;
// Functions in classes in functions.
constexpr int kMostNestedFunctions = 16;

Dwarf_Die Declaration(Dwarf_Die die) {
  for (int step = 0; step < kMostReferences; ++step) {
    Dwarf_Attribute value;
    Dwarf_Attribute* reference = dwarf_attr(&die, DW_AT_abstract_origin, &value);
    if (reference == nullptr) reference = dwarf_attr(&die, DW_AT_specification, &value);
    Dwarf_Die next;
    if (reference == nullptr || dwarf_formref_die(reference, &next) == nullptr) break;
    die = next;
  }
  return die;
}

// The name of a scope as it is written before "::"; empty if it adds none.
std::string ScopeName(Dwarf_Die scope) {
  const char* const name = dwarf_diename(&scope);
  switch (dwarf_tag(&scope)) {
    case DW_TAG_namespace:
      return name != nullptr ? name : "(anonymous namespace)";
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return name != nullptr ? name : "{lambda}";
    default:
      return "";
  }
}

}  // namespace

const ScopeTree* QualifiedNames::TreeOf(Dwarf_Die die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return nullptr;
  const auto known = trees_.find(unit.addr);
  if (known != trees_.end()) return &known->second;
  return &trees_.emplace(unit.addr, ScopeTree(unit)).first->second;
}

std::string QualifiedNames::Of(Dwarf_Die function, int depth) {
  const char* const own_name = dwarf_diename(&function);
  if (own_name == nullptr) return {};
  std::string name = own_name;

  Dwarf_Die declaration = Declaration(function);
  const ScopeTree* const tree = TreeOf(declaration);
  if (tree == nullptr) return name;
  for (std::size_t at = tree->Around(dwarf_dieoffset(&declaration)); at != ScopeTree::kNone;) {
    const ScopeTree::Scope& scope = tree->At(at);
    Dwarf_Die die = scope.die;
    if (dwarf_tag(&die) == DW_TAG_subprogram) {
      // A function's own DIE may be outside its class.
      return depth < kMostNestedFunctions ? Of(die, depth + 1) + "::" + name : name;
    }
    const std::string around = ScopeName(die);
    if (!around.empty()) name = around + "::" + name;
    at = scope.around;
  }
  return name;
}

}  // namespace leakgate
