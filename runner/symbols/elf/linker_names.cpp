#include "runner/symbols/linker_names.h"

#include <gelf.h>

#include <algorithm>
#include <map>

#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/elf/opened_module.h"

namespace leakgate {

struct LinkerNames::Files {
  struct Symbol {
    std::uint64_t begin;
    std::uint64_t end;
    const char* name;  // of `opened`
  };
  struct File {
    OpenedModule opened;
    std::vector<Symbol> symbols;  // by their begins
  };

  File& At(const std::string& path) {
    const auto [known, is_new] = by_path.try_emplace(path);
    File& file = known->second;
    if (!is_new) return file;
    file.opened = OpenWithElfutils(path, DebugSource::kOwnFile);
    if (file.opened.module == nullptr) return file;
    ForEachSymbol(file.opened.module, [&](const GElf_Sym& symbol, std::uint64_t address,
                                          const char* name, Elf* /*elf*/) {
      const auto type = GELF_ST_TYPE(symbol.st_info);
      const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
      if (!is_function || symbol.st_shndx == SHN_UNDEF) return;
      file.symbols.push_back({address, address + symbol.st_size, name});
    });
    std::stable_sort(file.symbols.begin(), file.symbols.end(),
                     [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
    return file;
  }

  std::map<std::string, File> by_path;
};

LinkerNames::LinkerNames() : files_(std::make_unique<Files>()) {}
LinkerNames::~LinkerNames() = default;
LinkerNames::LinkerNames(LinkerNames&&) noexcept = default;
LinkerNames& LinkerNames::operator=(LinkerNames&&) noexcept = default;

std::vector<std::string> LinkerNames::At(const std::string& path, std::uint64_t address) {
  std::vector<std::string> names;
  if (path.empty()) return names;
  const std::vector<Files::Symbol>& symbols = files_->At(path).symbols;
  auto symbol = std::upper_bound(
      symbols.begin(), symbols.end(), address,
      [](std::uint64_t wanted, const Files::Symbol& it) { return wanted < it.begin; });
  if (symbol == symbols.begin()) return names;
  for (const std::uint64_t begin = std::prev(symbol)->begin;
       symbol != symbols.begin() && std::prev(symbol)->begin == begin;) {
    --symbol;
    if (address < symbol->end) names.emplace_back(symbol->name);
  }
  return names;
}

}  // namespace leakgate
