#include "runner/symbols/elf/elf_file.h"

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

bool IsCode(const Elf64_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

// Of several names for one function, the most public one is preferred: it has the highest rank.
std::uint8_t BindingRank(const Elf64_Sym& symbol) {
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

// Where the sections of a file that contain code end, by their numbers; 0 for others.
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

void SymbolTable::Collect() {
  Elf* last_elf = nullptr;
  bool full_table = false;
  CodeSections sections(nullptr);
  ForEachSymbol(
      module_, [&](const Elf64_Sym& symbol, std::uint64_t address, const char* name, Elf* elf) {
        if (!IsCode(symbol)) return;
        if (elf != last_elf) {
          full_table = HasFullSymbolTable(elf);
          sections = CodeSections(elf);
          const std::size_t count =
              FindSymbols(elf, full_table ? SHT_SYMTAB : SHT_DYNSYM).symbols.size();
          symbols_.reserve(symbols_.size() + count);
        }
        last_elf = elf;
        const bool has_size = symbol.st_size != 0;
        if (!has_size && !full_table) return;
        // Arm's tools mark where code and data begin by $x and $d, $x.1 and so on.
        if (!has_size && name[0] == '$') return;
        const std::uint64_t section_end = sections.EndOf(symbol.st_shndx);
        if (section_end == 0) return;
        // A file and its debug file may differ in where they put the code.
        const std::uint64_t bias = address - symbol.st_value;
        const std::uint64_t end = has_size ? address + symbol.st_size : section_end + bias;
        symbols_.push_back({address, end, name, has_size, BindingRank(symbol)});
      });
}

// Removes symbols without a size that are within a function.
void SymbolTable::LeaveOutLabels() {
  std::uint64_t covered_until = 0;
  std::erase_if(symbols_, [&](const Symbol& symbol) {
    if (!symbol.has_size) return symbol.begin < covered_until;
    covered_until = std::max(covered_until, symbol.end);
    return false;
  });
}

void SymbolTable::Read() {
  is_read_ = true;
  Collect();
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    return std::pair(a.begin, a.has_size) < std::pair(b.begin, b.has_size);
  });
  LeaveOutLabels();
}

// REQUIRES: both begin at the same address.
bool SymbolTable::IsPreferred(const Symbol& a, const Symbol& b) {
  const std::string_view name = a.name;
  const std::string_view other = b.name;
  return std::tuple(a.has_size, a.binding_rank, LeadingUnderscores(other), other) >
         std::tuple(b.has_size, b.binding_rank, LeadingUnderscores(name), name);
}

std::string_view SymbolTable::NameAt(std::uint64_t address) {
  // So many symbols that begin before the address, and also end before it, are skipped.
  constexpr int kMostNested = 64;
  if (!is_read_) Read();
  const Symbol* found = nullptr;
  auto symbol = std::upper_bound(
      symbols_.cbegin(), symbols_.cend(), address,
      [](std::uint64_t wanted, const Symbol& candidate) { return wanted < candidate.begin; });
  // A symbol without a size reaches to the next one.
  const auto reaches = [&](Iterator candidate) {
    if (address >= candidate->end) return false;
    if (candidate->has_size) return true;
    const auto next = std::find_if(candidate, symbols_.cend(), [&](const Symbol& other) {
      return other.begin != candidate->begin;
    });
    return next == symbols_.cend() || address < next->begin;
  };
  for (int step = 0; symbol != symbols_.cbegin() && step < kMostNested; ++step) {
    --symbol;
    if (found != nullptr && symbol->begin != found->begin) break;
    if (reaches(symbol) && (found == nullptr || IsPreferred(*symbol, *found))) found = &*symbol;
  }
  return found != nullptr ? std::string_view(found->name) : std::string_view();
}

}  // namespace leakgate
