#include "runner/symbols/named_functions.h"

#include <gelf.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "runner/symbols/elf/debug_functions.h"
#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/elf/inlined_calls.h"
#include "runner/symbols/elf/opened_module.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

// Most symbols of a program are not demangled: their mangled names do not have the last part of the
// wanted one.
class WantedName {
 public:
  WantedName(const std::string& name, MatchesName matches) : name_(name), matches_(matches) {
    std::string_view last = name;
    if (const std::size_t scope = last.rfind("::"); scope != last.npos)
      last.remove_prefix(scope + 2);
    last = last.substr(0, last.find('<'));
    const bool is_spelt_out =
        !last.empty() && std::all_of(last.begin(), last.end(), [](unsigned char c) {
          return c == '_' || std::isalnum(c) != 0;
        });
    if (is_spelt_out) part_ = last;
  }

  [[nodiscard]] bool Is(const std::string& symbol) const {
    if (symbol == name_) return true;
    if (!symbol.starts_with("_Z")) return matches_(name_, symbol.substr(0, symbol.find('.')));
    if (symbol.find(part_) == std::string::npos) return false;
    return matches_(name_, QualifiedNameOf(Demangle(symbol)));
  }

 private:
  std::string name_;
  MatchesName matches_;
  std::string part_;
};

// Whether the symbol is of a part of a function, to which only the rest of it jumps.
bool IsPart(std::string_view symbol) {
  return symbol.find(".cold") != symbol.npos || symbol.find(".part.") != symbol.npos;
}

// Whether the symbol is of a copy that the compiler has made for some callers.
bool HasOtherArguments(std::string_view symbol) {
  return symbol.find(".isra.") != symbol.npos || symbol.find(".constprop.") != symbol.npos;
}

}  // namespace

bool FindsNamedFunctions() { return true; }

std::vector<std::vector<FoundFunction>> FindNamedFunctions(const std::filesystem::path& executable,
                                                           const std::vector<std::string>& names,
                                                           MatchesName matches) {
  std::vector<std::vector<FoundFunction>> found(names.size());
  if (names.empty()) return found;
  const OpenedModule opened = OpenWithElfutils(executable.string(), DebugSource::kAnyFile);
  if (opened.module == nullptr) return found;
  std::vector<WantedName> wanted;
  for (const std::string& name : names) wanted.emplace_back(name, matches);
  std::vector<std::map<std::uint64_t, FoundFunction>> functions(names.size());  // by address
  std::map<std::uint64_t, std::set<std::string>> symbols;                       // likewise
  SoughtFunctions sought;
  ForEachSymbol(opened.module, [&](const GElf_Sym& symbol, std::uint64_t address, const char* name,
                                   Elf* /*elf*/) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) return;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (IsPart(name) || !wanted[i].Is(name)) continue;
      FoundFunction& function = functions[i][address];
      function.address = address;
      function.size_bytes = std::max<std::uint64_t>(function.size_bytes, symbol.st_size);
      if (HasOtherArguments(name)) function.changed_symbol = name;
      symbols[address].insert(name);
      sought.symbols.insert(name);
      sought.addresses.insert(address);
      // A function that is declared inline, or made of a template, is weak.
      if (GELF_ST_BIND(symbol.st_info) != STB_WEAK) sought.in_own_unit.insert(address);
    }
  });
  if (sought.addresses.empty()) return found;
  const std::map<std::string, std::string> inlined = FindInlinedCalls(opened.module, sought);
  DebugFunctions debug(opened.module);
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (auto& [address, function] : functions[i]) {
      if (std::optional<FunctionParameters> known = debug.ParametersAt(address)) {
        function.has_object = known->has_object;
        function.parameters = std::move(known->kinds);
      }
      for (const std::string& symbol : symbols[address]) {
        const auto into = inlined.find(symbol);
        if (into != inlined.end()) function.inlined_into = into->second;
      }
      found[i].push_back(std::move(function));
    }
  }
  return found;
}

}  // namespace leakgate
