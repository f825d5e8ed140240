#include "runner/symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>

#include <iterator>

#include "common/region_layout.h"

namespace leakgate {

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

}  // namespace leakgate
