// What a module that another process has loaded exports. It is read from the process's memory,
// since the file may have been replaced, or may be in another root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attach/linux/target_memory.h"

namespace leakgate {

struct ExportedSymbol {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // equal to begin if its size is not known
  std::string name;
};

class TargetModule {
 public:
  // Reads the module whose ELF header is at `base`; nothing if there is none. If `only` is given,
  // reads no other symbol.
  [[nodiscard]] static std::optional<TargetModule> Read(const TargetMemory& memory,
                                                        std::uint64_t base,
                                                        std::string_view only = {});

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  bool Has(std::uint64_t address) const { return address >= begin_ && address < end_; }

  // Where the function or variable `name` is; 0 if it exports none.
  [[nodiscard]] std::uint64_t AddressOf(std::string_view name) const;
  // The names of the exported function that `address` is in; none if it is in none.
  [[nodiscard]] std::vector<std::string_view> NamesAt(std::uint64_t address) const;

 private:
  TargetModule() = default;

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::vector<ExportedSymbol> symbols_;  // by address
};

}  // namespace leakgate
