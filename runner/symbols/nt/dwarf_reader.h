// The DWARF debug information of a PE file, as mingw-w64's compilers write it, read by libdwarf.
// Addresses are relative to the begin of the image.
//
// Used by one thread at a time. REQUIRES: the file is as its linker has written it
// (PeFile::IsDamaged). libdwarf checks much of what it reads, but not all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/symbols/debug_function.h"
#include "runner/symbols/nt/pe_file.h"
#include "runner/symbols/variables.h"

namespace leakgate {

class DwarfReader {
 public:
  // Returns null if the file has no such debug information. `file` must outlive the object.
  [[nodiscard]] static std::unique_ptr<DwarfReader> Open(const PeFile& file);
  ~DwarfReader();

  // Returns the functions at `address`, including those that were inlined there, innermost first.
  // Empty if no unit has the address.
  [[nodiscard]] std::vector<DebugFunction> FunctionsAt(std::uint64_t address);

  // Returns the variable that begins at `address`: a global, or a static one of any kind. All calls
  // together read new parts of the debug information for half a second at most.
  [[nodiscard]] std::optional<Variable> VariableAt(std::uint64_t address);
  // Returns false if there was too little time for that.
  [[nodiscard]] bool HadTime() const;

  // Calls `use(name, directory)` for each unit, with the name of its source file as the compiler
  // was given it.
  void ForEachUnit(const std::function<void(const std::string&, const std::string&)>& use);
  [[nodiscard]] bool HasLines();

 private:
  struct Parts;
  explicit DwarfReader(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// The name and the version of the library.
[[nodiscard]] std::string DwarfLibraryVersion();

}  // namespace leakgate
