// The PDB of a module, as the compilers of MSVC and clang write it, read by Windows' DbgHelp.
// Addresses are relative to the begin of the image.
//
// DbgHelp reads files on disk alone here, never a process. It may be called by one thread at a
// time, which this class sees to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/symbols/debug_function.h"
#include "runner/symbols/variables.h"

namespace leakgate {

class PdbReader {
 public:
  // Returns null if the module's PDB is not found, or is of another build. It is looked for where
  // the linker has written it, beside the module, and in `directories`.
  [[nodiscard]] static std::unique_ptr<PdbReader> Open(
      const std::string& module, const std::vector<std::filesystem::path>& directories);
  ~PdbReader();

  // Returns the functions at `address`, including those that were inlined there, innermost first.
  // Empty if none has the address.
  [[nodiscard]] std::vector<DebugFunction> FunctionsAt(std::uint64_t address) const;

  // Returns the variable that has `address`, which has no position, and its bytes.
  [[nodiscard]] std::optional<Variable> VariableAt(std::uint64_t address) const;
  [[nodiscard]] std::optional<VariableExtent> ExtentAt(std::uint64_t address) const;

  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  PdbReader(std::uint64_t base, std::string file) : base_(base), file_(std::move(file)) {}

  std::uint64_t base_;  // where DbgHelp has the module
  std::string file_;    // the PDB
};

// The name and the version of the library.
[[nodiscard]] std::string PdbLibraryVersion();

}  // namespace leakgate
