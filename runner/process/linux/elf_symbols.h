// The symbols of an ELF file as they stand in its tables, without copying them: a binary has tens
// of thousands, and all are examined where only one is wanted. The file is not trusted.
#pragma once

#include <elf.h>
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "runner/base/descriptors.h"

namespace leakgate {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfFile = std::unique_ptr<Elf, ElfEnd>;

// Returns null if it is no ELF file. The file must stay open.
[[nodiscard]] ElfFile OpenElfFile(const UniqueFd& file);

// A table of symbols, with the texts of their names. It is part of the `Elf` that it was found in.
struct ElfSymbols {
  std::span<const Elf64_Sym> symbols;
  std::string_view texts;  // ends with a 0, unless it is empty

  // Returns the name of one of its symbols; empty if it has none.
  [[nodiscard]] std::string_view NameOf(const Elf64_Sym& symbol) const {
    const std::string_view rest = RestFrom(symbol);
    return rest.substr(0, rest.find('\0'));
  }
  // Returns the name as a text that ends with a 0; null if there is none in the table.
  [[nodiscard]] const char* TextOf(const Elf64_Sym& symbol) const {
    return symbol.st_name < texts.size() ? texts.data() + symbol.st_name : nullptr;
  }
  // Returns the name and what follows it: enough to see how the name begins.
  [[nodiscard]] std::string_view RestFrom(const Elf64_Sym& symbol) const {
    return symbol.st_name < texts.size() ? texts.substr(symbol.st_name) : std::string_view();
  }
};

// Returns the first table of `type`, SHT_SYMTAB or SHT_DYNSYM; an empty one if there is none, or if
// the file is not one of 64 bits.
[[nodiscard]] ElfSymbols FindSymbols(Elf* elf, std::uint32_t type);

}  // namespace leakgate
