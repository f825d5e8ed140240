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

class ModuleFile {
 public:
  // Opens the file at the module's path. Null if it cannot be read or is not
  // the one that was mapped, by its build-id.
  [[nodiscard]] static std::unique_ptr<ModuleFile> Open(const Module& module, DebugSource source);

  // The frames at `return_address`, an address in the file, without the
  // module's name: innermost first, never none.
  [[nodiscard]] std::vector<Frame> FramesAt(std::uint64_t return_address);

 private:
  struct EndDwfl {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  using DwflPtr = std::unique_ptr<Dwfl, EndDwfl>;

  ModuleFile(DwflPtr dwfl, Dwfl_Module* module, Elf* elf);

  DwflPtr dwfl_;  // owns what the others point into
  SymbolTable symbols_;
  DebugFunctions debug_functions_;
  CallTargets call_targets_;
};

}  // namespace leakgate
