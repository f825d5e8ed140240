// An ELF file with its debug information, as elfutils has opened it.
//
// Each file has a Dwfl of its own, at bias 0, because modules may have held the same addresses at
// different times. The file is not trusted.
#pragma once

#include <elfutils/libdwfl.h>

#include <memory>
#include <string>

#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/symbol_cache.h"

namespace leakgate {

// Addresses are those in the file.
struct OpenedModule {
  std::unique_ptr<std::string> debug_path;  // `dwfl` refers to it
  DwflHandle dwfl;
  Dwfl_Module* module = nullptr;  // null if the file cannot be read; else owned by `dwfl`
};

// Opens the file at `path`. Its debug information is read from `debug_path`, or searched for if
// that is empty.
[[nodiscard]] OpenedModule OpenWithElfutils(const std::string& path, DebugSource source,
                                            const std::string& debug_path = "");

// Returns whether everything that describes the addresses of the file is in the file itself:
// neither in a separate debug file, nor in parts that -gsplit-dwarf or dwz have put elsewhere.
[[nodiscard]] bool HasItsOwnDebugInformation(Dwfl_Module* module);

}  // namespace leakgate
