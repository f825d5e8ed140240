// The file of a module on disk, with everything that describes its addresses: symbol tables, debug
// information and call instructions.
//
// Each file has a Dwfl of its own, at bias 0, because modules may have held the same addresses at
// different times. Used by Symbolizer, on one thread at a time. The file is not trusted.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/region/region_copies.h"
#include "runner/symbols/debug_servers.h"
#include "runner/symbols/elf/call_target.h"
#include "runner/symbols/elf/debug_functions.h"
#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/elf/symbol_files.h"
#include "runner/symbols/frame.h"
#include "runner/symbols/symbol_cache.h"

namespace leakgate {

// A file as elfutils has opened it; addresses are those in the file.
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

class ModuleFile {
 public:
  struct OpenResult {
    std::unique_ptr<ModuleFile> file;  // null if it has not been found
    ModuleFileState state = ModuleFileState::kMissing;
  };

  // Opens the file at the module's path, or else a file of the same build-id from `files` or from a
  // server. If `files` is null, only the module's path is tried. The opened file always has the
  // build-id that was mapped.
  [[nodiscard]] static OpenResult Open(const Module& module, DebugSource source,
                                       SymbolFiles* files = nullptr);

  // Returns the frames at `return_address`, an address in the file: innermost first, at least
  // one. They do not name the module.
  [[nodiscard]] std::vector<Frame> FramesAt(std::uint64_t return_address);

  // Returns the function that the symbol table has at `return_address`, and what is called there.
  // Debug information is not read.
  [[nodiscard]] Frame SymbolAt(std::uint64_t return_address);

  // Returns whether everything that describes the file's addresses is in the file itself, or was
  // not to be searched for elsewhere.
  [[nodiscard]] bool IsWhole() const;
  // Does the same for what SymbolAt returns.
  [[nodiscard]] bool HasItsOwnSymbols() const;

 private:
  ModuleFile(OpenedModule opened, Elf* elf, DebugSource source);
  static std::unique_ptr<ModuleFile> OpenIfSame(const Module& module, DebugSource source,
                                                OpenedModule opened);
  void AddCallTarget(std::uint64_t return_address, Frame& frame) const;

  OpenedModule opened_;  // the others point into it
  SymbolTable symbols_;
  std::optional<DebugFunctions> debug_functions_;  // when first asked for
  CallTargets call_targets_;
  Elf* elf_;  // the file itself
  DebugSource source_;
};

}  // namespace leakgate
