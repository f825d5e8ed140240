// One mapped file, opened on disk with all that can tell of its addresses: its
// symbol tables, its debug information and its call instructions.
//
// Each has a Dwfl of its own, at bias 0, so that modules that held the same
// addresses at different times do not get in each other's way. Used by
// Symbolizer, on one thread at a time. The file is not trusted.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/region/module.h"
#include "runner/symbols/call_target.h"
#include "runner/symbols/debug_functions.h"
#include "runner/symbols/frame.h"
#include "runner/symbols/symbol_files.h"
#include "runner/symbols/symbol_table.h"

namespace leakgate {

// Where a module's debug information may come from.
enum class DebugSource {
  kAnyFile,  // also a separate debug file
  kOwnFile,  // only what the module itself holds
};

// A file on disk as elfutils has it, at the file's own addresses. `module` is null
// if it cannot be read; else it is valid as long as `dwfl`.
struct OpenedModule {
  struct EndDwfl {
    void operator()(Dwfl* ended) const { dwfl_end(ended); }
  };
  std::unique_ptr<std::string> debug_path;  // outlives the next
  std::unique_ptr<Dwfl, EndDwfl> dwfl;
  Dwfl_Module* module = nullptr;
};

// `debug_path`: where its debug information is; empty: to be looked for.
[[nodiscard]] OpenedModule OpenDwfl(const std::string& path, DebugSource source,
                                    const std::string& debug_path = "");

class ModuleFile {
 public:
  struct OpenResult {
    std::unique_ptr<ModuleFile> file;  // null: it has not been found
    ModuleFileState state = ModuleFileState::kMissing;
  };

  // Opens the file at the module's path, or else the one of its build-id that `files`
  // knows; null: only at its path. Never one of another build-id than was mapped.
  [[nodiscard]] static OpenResult Open(const Module& module, DebugSource source,
                                       SymbolFiles* files = nullptr);

  // The frames at `return_address`, an address in the file, without the
  // module's name: innermost first, never none.
  [[nodiscard]] std::vector<Frame> FramesAt(std::uint64_t return_address);

 private:
  ModuleFile(OpenedModule opened, Elf* elf);
  static std::unique_ptr<ModuleFile> OpenIfSame(const Module& module, OpenedModule opened);

  OpenedModule opened_;  // owns what the others point into
  SymbolTable symbols_;
  DebugFunctions debug_functions_;
  CallTargets call_targets_;
};

}  // namespace leakgate
