// What leakgate reads from an ELF file by itself: its build-id, and which kinds of sections it
// has. The file is not trusted.
#pragma once

#include <elfutils/libdwfl.h>
#include <libelf.h>

#include <cstddef>
#include <memory>
#include <string>

#include "runner/base/descriptors.h"

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

}  // namespace leakgate
