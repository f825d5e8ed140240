#include "runner/symbols/elf/debug_information.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "runner/base/regular_file.h"
#include "runner/symbols/debug_servers.h"
#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/elf/symbol_files.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

fs::path DirectoryOf(const char* file) {
  std::error_code unknown;
  return fs::canonical(file, unknown).parent_path();
}

// libdw opens the file into which dwz has put the parts that several files share.
bool MayReadSharedParts(const DebugInformation& information) {
  const char* name = nullptr;
  const void* id = nullptr;
  const std::ptrdiff_t count = dwelf_dwarf_gnu_debugaltlink(information.dwarf, &name, &id);
  if (count <= 0) return true;
  const std::string build_id = HexText(static_cast<const unsigned char*>(id), count);
  return MayLookUpBuildId(build_id) &&
         std::all_of(information.directories.begin(), information.directories.end(),
                     [&](const fs::path& it) { return IsRegularOrMissing(it / name); });
}

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
// A function may be in a class that is in a function, and so on.
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

DebugInformation FindDebugInformation(Dwfl_Module* module) {
  DebugInformation information;
  information.dwarf = dwfl_module_getdwarf(module, &information.bias);
  if (information.dwarf == nullptr) return information;
  const char* files[2] = {};
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &files[0], &files[1]);
  bool may_read = true;
  for (const char* const file : files) {
    if (file == nullptr) continue;
    information.directories.push_back(DirectoryOf(file));
    // Later versions of elfutils look for a package of all split halves there.
    may_read = may_read && IsRegularOrMissing(std::string(file) + ".dwp");
  }
  if (!may_read || !MayReadSharedParts(information)) information.dwarf = nullptr;
  return information;
}

bool HasPartsElsewhere(const DebugInformation& information) {
  const char* name = nullptr;
  const void* id = nullptr;
  if (dwelf_dwarf_gnu_debugaltlink(information.dwarf, &name, &id) > 0) return true;
  Dwarf_CU* cu = nullptr;
  std::uint8_t type = 0;
  while (dwarf_get_units(information.dwarf, cu, &cu, nullptr, &type, nullptr, nullptr) == 0) {
    if (type == DW_UT_skeleton) return true;
  }
  return false;
}

const char* TextOf(Dwarf_Die entry, unsigned attribute) {
  Dwarf_Attribute value;
  return dwarf_formstring(dwarf_attr(&entry, attribute, &value));
}

bool MayReadSplitHalf(const DebugInformation& information, Dwarf_Die unit) {
  const char* name = TextOf(unit, DW_AT_dwo_name);
  if (name == nullptr) name = TextOf(unit, DW_AT_GNU_dwo_name);
  if (name == nullptr) return true;
  const char* const compiled_in = TextOf(unit, DW_AT_comp_dir);
  return std::all_of(information.directories.begin(), information.directories.end(),
                     [&](const fs::path& it) {
                       const fs::path other = compiled_in == nullptr ? it : it / compiled_in;
                       return IsRegularOrMissing(it / name) && IsRegularOrMissing(other / name);
                     });
}

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
      // A function's own entry may be outside its class, so its name is searched again.
      return depth < kMostNestedFunctions ? Of(die, depth + 1) + "::" + name : name;
    }
    const std::string around = ScopeName(die);
    if (!around.empty()) name = around + "::" + name;
    at = scope.around;
  }
  return name;
}

}  // namespace leakgate
