// The variables of one file. Each system has its own kind of files: elf/ and nt/ define this. Used
// by Variables, on one thread at a time. The file is not trusted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runner/symbols/symbol_cache.h"
#include "runner/symbols/variables.h"

namespace leakgate {

class VariableFile {
 public:
  // Never null. If the file cannot be read, it has no variables.
  [[nodiscard]] static std::unique_ptr<VariableFile> Open(const std::string& path,
                                                          DebugSource source);
  virtual ~VariableFile() = default;

  // As the functions of Variables.
  [[nodiscard]] virtual std::optional<Variable> At(std::uint64_t address) = 0;
  [[nodiscard]] virtual VariableExtent ExtentAt(std::uint64_t address) = 0;
  [[nodiscard]] virtual std::optional<Variable> ThreadLocalAt(std::uint64_t offset) = 0;

  // Returns whether the file would give the same answer at another time: see ModuleFile::IsWhole.
  [[nodiscard]] virtual bool TellsAll() = 0;
};

}  // namespace leakgate
