#include "runner/symbols/qualified_names.h"

#include <dwarf.h>

#include <algorithm>

#include "runner/symbols/debug_information.h"

namespace leakgate {
namespace {

bool IsScope(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
      return true;
    default:
      return false;
  }
}

// A concrete function refers to its abstract one, and that one to the declaration in its class. So
// sound debug information needs two steps.
constexpr int kMostReferences = 16;
// For functions in classes in functions.
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

// Returns what is written before "::" for a scope; empty if the scope adds nothing to a name.
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

ScopeTree::ScopeTree(Dwarf_Die unit) : reached_(dwarf_dieoffset(&unit)) {
  Collect(&unit, kNone, 0);
}

void ScopeTree::Collect(Dwarf_Die* die, std::size_t around, int depth) {
  if (depth > kMostNestedEntries) return;
  std::size_t last = kNone;
  ForEachChild(die, reached_, [&](Dwarf_Die& child) {
    if (last != kNone) scopes_[last].end = reached_;
    last = kNone;
    if (!IsScope(dwarf_tag(&child))) return true;
    last = scopes_.size();
    scopes_.push_back({child, reached_, kUnknown, around});
    Collect(&child, last, depth + 1);
    return true;
  });
}

std::size_t ScopeTree::Around(Dwarf_Off offset) const {
  const auto behind =
      std::lower_bound(scopes_.begin(), scopes_.end(), offset,
                       [](const Scope& scope, Dwarf_Off wanted) { return scope.begin < wanted; });
  if (behind == scopes_.begin()) return kNone;
  // The last scope that begins before `offset` is around it, unless that scope has ended there,
  // or one of those around it has.
  std::size_t innermost = static_cast<std::size_t>(behind - scopes_.begin()) - 1;
  for (std::size_t scope = innermost; scope != kNone; scope = scopes_[scope].around) {
    if (scopes_[scope].end <= offset) innermost = scopes_[scope].around;
  }
  return innermost;
}

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
      // A function's own entry may be outside its class, so its name is found anew.
      return depth < kMostNestedFunctions ? Of(die, depth + 1) + "::" + name : name;
    }
    const std::string around = ScopeName(die);
    if (!around.empty()) name = around + "::" + name;
    at = scope.around;
  }
  return name;
}

}  // namespace leakgate
