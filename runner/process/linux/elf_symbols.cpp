#include "runner/process/linux/elf_symbols.h"

#include <gelf.h>

namespace leakgate {
namespace {

std::string_view TextsIn(Elf* elf, std::size_t section) {
  Elf_Scn* const texts = elf_getscn(elf, section);
  const Elf_Data* const content = texts == nullptr ? nullptr : elf_getdata(texts, nullptr);
  if (content == nullptr || content->d_buf == nullptr) return {};
  const std::string_view all(static_cast<const char*>(content->d_buf), content->d_size);
  // The last text ends there, even if the file does not end it.
  return all.substr(0, all.rfind('\0') + 1);
}

}  // namespace

ElfFile OpenElfFile(const UniqueFd& file) {
  elf_version(EV_CURRENT);
  ElfFile elf(elf_begin(file.get(), ELF_C_READ_MMAP, nullptr));
  if (elf != nullptr && elf_kind(elf.get()) != ELF_K_ELF) elf.reset();
  return elf;
}

ElfSymbols FindSymbols(Elf* elf, std::uint32_t type) {
  if (elf == nullptr || gelf_getclass(elf) != ELFCLASS64) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    const Elf64_Shdr* const header = elf64_getshdr(section);
    if (header == nullptr || header->sh_type != type) continue;
    // libelf translates it to this machine's byte order, and aligns it.
    const Elf_Data* const content = elf_getdata(section, nullptr);
    if (content == nullptr || content->d_buf == nullptr) continue;
    return {{static_cast<const Elf64_Sym*>(content->d_buf), content->d_size / sizeof(Elf64_Sym)},
            TextsIn(elf, header->sh_link)};
  }
  return {};
}

}  // namespace leakgate
