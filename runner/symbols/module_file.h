// The file of a module on disk, with everything that describes its addresses: symbol tables, debug
// information and call instructions. Used by Symbolizer, on one thread at a time.
//
// Each system has its own kind of files and of debug information: elf/ defines this for ELF and
// DWARF, nt/ for PE with DWARF or a PDB. The files are not trusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "runner/region/region_copies.h"
#include "runner/symbols/frame.h"
#include "runner/symbols/symbol_cache.h"

namespace leakgate {

// Finds files that are no longer where a module was mapped, in directories and on servers.
class SymbolFiles;
[[nodiscard]] std::shared_ptr<SymbolFiles> NewSymbolFiles(
    std::vector<std::filesystem::path> directories);

class ModuleFile {
 public:
  struct OpenResult {
    std::unique_ptr<ModuleFile> file;  // null if it has not been found
    ModuleFileState state = ModuleFileState::kMissing;
  };

  // Opens the file at the module's path, or else a file of the same build from `files`. If `files`
  // is null, only the module's path is tried. The opened file always is of the build that was
  // mapped.
  [[nodiscard]] static OpenResult Open(const Module& module, DebugSource source,
                                       SymbolFiles* files = nullptr);
  virtual ~ModuleFile() = default;

  // Returns the frames at `return_address`, an address in the file: innermost first, at least
  // one. They do not name the module.
  [[nodiscard]] virtual std::vector<Frame> FramesAt(std::uint64_t return_address) = 0;

  // Returns the function that the symbol table has at `return_address`, and what is called there.
  // Debug information is not read.
  [[nodiscard]] virtual Frame SymbolAt(std::uint64_t return_address) = 0;

  // Returns whether everything that describes the file's addresses is in the file itself, or was
  // not to be searched for elsewhere.
  [[nodiscard]] virtual bool IsWhole() const = 0;
  // Does the same for what SymbolAt returns.
  [[nodiscard]] virtual bool HasItsOwnSymbols() const = 0;
};

}  // namespace leakgate
