#include "runner/symbols/elf/inlined_calls.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <unordered_map>

#include "runner/base/time_limit.h"
#include "runner/symbols/elf/debug_information.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

const char* SymbolOf(Dwarf_Die* function) {
  Dwarf_Attribute value;
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    const char* const name = dwarf_formstring(dwarf_attr_integrate(function, attribute, &value));
    if (name != nullptr) return name;
  }
  return nullptr;
}

class Search {
 public:
  // `bias` is what the file's addresses are greater by than the debug information's.
  Search(const SoughtFunctions& sought, Dwarf_Addr bias) : sought_(sought), bias_(bias) {}

  void ReadUnit(Dwarf_Die unit) {
    Dwarf_Off reached = dwarf_dieoffset(&unit);
    origins_.clear();
    Read(&unit, nullptr, reached, 0);
  }

  std::map<std::string, std::string> Take() { return std::move(found_); }

 private:
  // `around` is the function of the program that the children are in.
  void Read(Dwarf_Die* scope, Dwarf_Die* around, Dwarf_Off& reached, int depth) {
    if (depth > kMostNestedEntries) return;
    ForEachChild(scope, reached, [&](Dwarf_Die& child) {
      time_.Step();
      switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
          Read(&child, &child, reached, depth + 1);
          break;
        case DW_TAG_inlined_subroutine:
          Note(&child, around);
          Read(&child, around, reached, depth + 1);
          break;
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
          Read(&child, around, reached, depth + 1);
          break;
        default:
          break;
      }
      return true;
    });
  }

  void Note(Dwarf_Die* inlined, Dwarf_Die* around) {
    if (around == nullptr) return;
    Dwarf_Attribute value;
    Dwarf_Die origin;
    if (dwarf_formref_die(dwarf_attr(inlined, DW_AT_abstract_origin, &value), &origin) == nullptr) {
      return;
    }
    const auto [known, is_new] = origins_.try_emplace(origin.addr, nullptr);
    if (is_new) {
      const char* const symbol = SymbolOf(&origin);
      const auto sought = symbol == nullptr ? sought_.symbols.end() : sought_.symbols.find(symbol);
      if (sought != sought_.symbols.end()) known->second = &*sought;
    }
    if (known->second == nullptr || found_.contains(*known->second)) return;
    Dwarf_Addr entry = 0;
    // Nothing is left of a function that the linker has dropped.
    const bool is_there = dwarf_entrypc(around, &entry) == 0 && entry != 0;
    if (!is_there || sought_.addresses.contains(entry + bias_)) return;
    const char* const into = SymbolOf(around);
    if (into != nullptr && sought_.symbols.contains(into)) return;
    Dwarf_Word line = 0;
    (void)dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &value), &line);
    const char* const file = dwarf_decl_file(around);
    found_[*known->second] = fmt::format(
        "{} ({}:{})", into == nullptr ? "another function" : QualifiedNameOf(Demangle(into)),
        file == nullptr ? "" : std::filesystem::path(file).filename().string(), line);
  }

  const SoughtFunctions& sought_;
  const Dwarf_Addr bias_;
  TimeCheck time_;
  // By the place of a function's entry: the symbol, if it is one of those that are sought.
  std::unordered_map<const void*, const std::string*> origins_;
  std::map<std::string, std::string> found_;
};

// Link-time optimisation inlines functions of other units as well.
bool IsOfWholeProgram(Dwarf_Die* unit) {
  const char* const name = dwarf_diename(unit);
  return name != nullptr && std::string_view(name).find("<artificial>") != std::string_view::npos;
}

}  // namespace

std::map<std::string, std::string> FindInlinedCalls(Dwfl_Module* module,
                                                    const SoughtFunctions& sought) {
  const DebugInformation information = FindDebugInformation(module);
  if (information.dwarf == nullptr) return {};
  bool reads_all = sought.in_own_unit.size() < sought.addresses.size();
  ForEachUnit(information, [&](Dwarf_Die unit, Dwarf_Die&) {
    reads_all = reads_all || IsOfWholeProgram(&unit);
    return !reads_all;
  });
  Search search(sought, information.bias);
  ForEachUnit(information, [&](Dwarf_Die unit, Dwarf_Die details) {
    bool is_wanted = reads_all;
    for (const std::uint64_t address : sought.in_own_unit) {
      is_wanted = is_wanted || dwarf_haspc(&unit, address - information.bias) > 0;
    }
    if (is_wanted) search.ReadUnit(details);
    return true;
  });
  return search.Take();
}

}  // namespace leakgate
