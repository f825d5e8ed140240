#include "runner/symbols/scope_tree.h"

#include <dwarf.h>

#include <algorithm>

#include "runner/symbols/dwarf_children.h"

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
  // The last that begins before it is around it, unless that, or one that it is in, has ended.
  std::size_t innermost = static_cast<std::size_t>(behind - scopes_.begin()) - 1;
  for (std::size_t scope = innermost; scope != kNone; scope = scopes_[scope].around) {
    if (scopes_[scope].end <= offset) innermost = scopes_[scope].around;
  }
  return innermost;
}

}  // namespace leakgate
