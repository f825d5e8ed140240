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

#include "runner/snapshot/module.h"
#include "runner/symbols/call_target.h"
#include "runner/symbols/debug_functions.h"
#include "runner/symbols/frame.h"
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
  std::unique_ptr<Dwfl, EndDwfl> dwfl;
  Dwfl_Module* module = nullptr;
};

[[nodiscard]] OpenedModule OpenDwfl(const std::string& path, DebugSource source);

class ModuleFile {
 public:
  // Opens the file at the module's path. Null if it cannot be read or is not
  // the one that was mapped, by its build-id.
  [[nodiscard]] static std::unique_ptr<ModuleFile> Open(const Module& module, DebugSource source);

  // The frames at `return_address`, an address in the file, without the
  // module's name: innermost first, never none.
  [[nodiscard]] std::vector<Frame> FramesAt(std::uint64_t return_address);

 private:
  ModuleFile(OpenedModule opened, Elf* elf);

  OpenedModule opened_;  // owns what the others point into
  SymbolTable symbols_;
  DebugFunctions debug_functions_;
  CallTargets call_targets_;
};

}  // namespace leakgate
