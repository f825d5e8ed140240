#include "runner/symbols/qualified_name.h"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <span>

namespace leakgate {
namespace {

// A concrete function refers to its abstract one, and that to the declaration
// in its class: two steps, in sound debug information.
constexpr int kMostReferences = 16;

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
std::string ScopeName(Dwarf_Die* scope) {
  const char* const name = dwarf_diename(scope);
  switch (dwarf_tag(scope)) {
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

std::string QualifiedName(Dwarf_Die* function) {
  const char* const own_name = dwarf_diename(function);
  if (own_name == nullptr) return {};
  std::string name = own_name;

  Dwarf_Die declaration = Declaration(*function);
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&declaration, &scopes);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(scopes, &std::free);
  if (count <= 1) return name;
  // Innermost first; the first is the declaration itself.
  for (Dwarf_Die& scope : std::span(scopes, static_cast<std::size_t>(count)).subspan(1)) {
    // A function's own DIE may be outside its class.
    if (dwarf_tag(&scope) == DW_TAG_subprogram) return QualifiedName(&scope) + "::" + name;
    const std::string around = ScopeName(&scope);
    if (!around.empty()) name = around + "::" + name;
  }
  return name;
}

}  // namespace leakgate
