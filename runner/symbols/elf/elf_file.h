// What leakgate reads from an ELF file by itself: its build-id, which kinds of sections it has, and
// which function a symbol names. The file is not trusted.
#pragma once

#include <elfutils/libdwfl.h>
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/process/linux/elf_symbols.h"
#include "runner/symbols/range_map.h"

namespace leakgate {

struct ElfCloser {
  void operator()(Elf* elf) const { elf_end(elf); }
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;
using DwflHandle = std::unique_ptr<Dwfl, ElfCloser>;

// Maps `file`, which must stay open as long as the handle lives. Returns null if libelf cannot
// map it; a file that is not ELF gets a handle, too.
[[nodiscard]] ElfHandle OpenElf(const UniqueFd& file);

// Returns `count` bytes as lower-case hexadecimal digits; empty if `count` is not positive.
[[nodiscard]] std::string HexText(const unsigned char* bytes, std::ptrdiff_t count);

// Both return the build-id as hexadecimal text; it is empty if there is none, or no `elf`.
[[nodiscard]] std::string BuildIdOf(Elf* elf);
[[nodiscard]] std::string BuildIdOf(Dwfl_Module* module);

// Cuts a build-id to the length that the agent records in a region, so that the two compare.
[[nodiscard]] std::string CutToRecordedLength(const std::string& build_id);

// Returns false for a file that holds debug information alone.
[[nodiscard]] bool HasCode(Elf* elf);

// Returns whether the file has the table of all its symbols (.symtab), not only of exported ones.
[[nodiscard]] bool HasFullSymbolTable(Elf* elf);

// Finds functions by address in a module's symbol tables.
//
// A symbol names an address only within its own size. Debian's libc has only its exported
// symbols, with internal functions between them: the nearest symbol, which most tools take,
// would be the wrong function.
//
// A program has tens of thousands of symbols, of which some tens are asked for: so names are read
// and compared only for these.
//
// Addresses are those in the file.
class SymbolTable {
 public:
  // Reads the full symbol table of the file or of its debug file, or else the exported symbols.
  // `module` owns the names and must outlive this.
  explicit SymbolTable(Dwfl_Module* module) : module_(module) {}

  // Returns the symbol, as the linker spells it, of the function that has `address`; empty if no
  // function has it. The first call reads the table.
  [[nodiscard]] std::string_view NameAt(std::uint64_t address);

 private:
  struct Symbol {
    std::uint64_t begin;
    std::uint64_t end;  // of its section, if the table does not have its size
    const char* name;
    bool has_size;
    std::uint8_t binding_rank;
  };
  using Iterator = std::vector<Symbol>::const_iterator;

  void Read();
  void Collect();
  void LeaveOutLabels();
  static bool IsPreferred(const Symbol& a, const Symbol& b);

  Dwfl_Module* module_;
  bool is_read_ = false;
  std::vector<Symbol> symbols_;  // by their begins
};

// Calls `use(symbol, address, name, elf)` for each symbol of a module with a name, of the tables
// that elfutils would take: the full one of the file or of its debug file, or else the exported
// symbols. `name` ends with a 0; `elf` is the file to which the symbol's section number refers.
template <typename Use>
void ForEachSymbol(Dwfl_Module* module, Use use) {
  GElf_Addr bias = 0;
  Elf* const own = dwfl_module_getelf(module, &bias);
  const ElfSymbols full = FindSymbols(own, SHT_SYMTAB);
  for (const Elf64_Sym& symbol : full.symbols) {
    const char* const name = full.TextOf(symbol);
    if (symbol.st_name != 0 && name != nullptr) use(symbol, symbol.st_value + bias, name, own);
  }
  if (!full.symbols.empty()) return;
  const int count = dwfl_module_getsymtab(module);
  for (int index = 1; index < count; ++index) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    Elf* elf = nullptr;
    const char* const name =
        dwfl_module_getsym_info(module, index, &symbol, &address, nullptr, &elf, nullptr);
    if (name != nullptr && *name != '\0' && elf != nullptr) {
      use(symbol, address, name, elf);
    }
  }
}

}  // namespace leakgate
