#include "runner/symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "common/region_layout.h"

namespace leakgate {
namespace {

struct Symbol {
  std::uint64_t begin;
  std::uint64_t size;  // 0 if the table, a full one, does not tell
  std::uint64_t section_end;
  int binding_rank;
  std::string_view name;
};

bool IsCode(const Elf64_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

// Of several names for one function, the most public one is preferred: it has the highest rank.
int BindingRank(const Elf64_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_GLOBAL:
      return 2;
    case STB_WEAK:
      return 1;
    default:
      return 0;
  }
}

std::size_t LeadingUnderscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

// Where the sections of a file end that hold code, by their numbers; 0 for others.
class CodeSections {
 public:
  explicit CodeSections(Elf* elf) {
    std::size_t count = 0;
    if (elf_getshdrnum(elf, &count) != 0) return;
    ends_.resize(count);
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      const std::size_t index = elf_ndxscn(section);
      if (index >= count || gelf_getshdr(section, &header) == nullptr) continue;
      const bool is_code = (header.sh_flags & SHF_EXECINSTR) != 0;
      if (is_code) ends_[index] = header.sh_addr + header.sh_size;
    }
  }

  [[nodiscard]] std::uint64_t EndOf(std::size_t index) const {
    return index < ends_.size() ? ends_[index] : 0;
  }

 private:
  std::vector<std::uint64_t> ends_;
};

std::vector<Symbol> ReadSymbols(Dwfl_Module* module) {
  std::vector<Symbol> symbols;
  Elf* last_elf = nullptr;
  bool full_table = false;
  CodeSections sections(nullptr);
  ForEachSymbol(
      module, [&](const Elf64_Sym& symbol, std::uint64_t address, std::string_view name, Elf* elf) {
        if (!IsCode(symbol)) return;
        if (elf != last_elf) {
          full_table = HasFullSymbolTable(elf);
          sections = CodeSections(elf);
        }
        last_elf = elf;
        if (symbol.st_size == 0 && !full_table) return;
        const std::uint64_t section_end = sections.EndOf(symbol.st_shndx);
        if (section_end == 0) return;
        // A file and its debug file may differ in where they put the code.
        const std::uint64_t bias = address - symbol.st_value;
        symbols.push_back({address, symbol.st_size, section_end + bias, BindingRank(symbol), name});
      });
  return symbols;
}

// Sorts by address, and puts the preferred name of equal ones last: RangeMap finds that one.
void SortForPreference(std::vector<Symbol>& symbols) {
  std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return std::tuple(a.size != 0, a.binding_rank, LeadingUnderscores(b.name), b.name) <
           std::tuple(b.size != 0, b.binding_rank, LeadingUnderscores(a.name), a.name);
  });
}

// A symbol without a size reaches to the next one, or to its section's end.
using SymbolIterator = std::vector<Symbol>::const_iterator;
std::uint64_t OpenEnd(SymbolIterator symbol, SymbolIterator last) {
  const auto next =
      std::find_if(symbol, last, [&](const Symbol& other) { return other.begin != symbol->begin; });
  return next == last ? symbol->section_end : std::min(next->begin, symbol->section_end);
}

}  // namespace

ElfHandle OpenElf(const UniqueFd& file) {
  elf_version(EV_CURRENT);
  return ElfHandle(elf_begin(file.get(), ELF_C_READ_MMAP, nullptr));
}

std::string HexText(const unsigned char* bytes, std::ptrdiff_t count) {
  std::string text;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    fmt::format_to(std::back_inserter(text), "{:02x}", bytes[i]);
  }
  return text;
}

std::string BuildIdOf(Elf* elf) {
  const void* bytes = nullptr;
  const std::ptrdiff_t count = elf == nullptr ? 0 : dwelf_elf_gnu_build_id(elf, &bytes);
  return HexText(static_cast<const unsigned char*>(bytes), count);
}

std::string BuildIdOf(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr address = 0;
  const int count = dwfl_module_build_id(module, &bytes, &address);  // sets `bytes`
  return HexText(bytes, count);
}

std::string CutToRecordedLength(const std::string& build_id) {
  return build_id.substr(0, 2 * sizeof(ModuleRecord::build_id));
}

bool HasCode(Elf* elf) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return false;
    const bool is_code = (header.sh_flags & SHF_EXECINSTR) != 0;
    if (is_code && header.sh_type != SHT_NOBITS) return true;
  }
  return false;
}

bool HasFullSymbolTable(Elf* elf) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_SYMTAB) return true;
  }
  return false;
}

void SymbolTable::Read() {
  is_read_ = true;
  std::vector<Symbol> symbols = ReadSymbols(module_);
  SortForPreference(symbols);
  std::uint64_t covered_until = 0;
  for (auto symbol = symbols.begin(); symbol != symbols.end(); ++symbol) {
    std::uint64_t end = symbol->begin + symbol->size;
    if (symbol->size == 0) {
      if (symbol->begin < covered_until) continue;  // a label within a function
      end = OpenEnd(symbol, symbols.end());
    }
    covered_until = std::max(covered_until, end);
    functions_.Add(symbol->begin, end, symbol->name);
  }
  functions_.Seal();
}

std::string SymbolTable::NameAt(std::uint64_t address) {
  if (!is_read_) Read();
  const std::string_view* const name = functions_.Find(address);
  return name != nullptr ? std::string(*name) : std::string();
}

}  // namespace leakgate
