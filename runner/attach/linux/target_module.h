// What a module that another process has loaded exports, read from the process's memory:
// its file may have been replaced, or be in another root.
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
  std::uint64_t end = 0;  // begin where its size is not told
  std::string name;
};

class TargetModule {
 public:
  // The module whose ELF header is at `base`; none if there is none.
  // With `only`, of its symbols that one alone.
  [[nodiscard]] static std::optional<TargetModule> Read(const TargetMemory& memory,
                                                        std::uint64_t base,
                                                        std::string_view only = {});

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  bool Has(std::uint64_t address) const { return address >= begin_ && address < end_; }

  // Where the function or variable `name` is; 0 if it exports none.
  [[nodiscard]] std::uint64_t AddressOf(std::string_view name) const;
  // The names of the function that `address` is in; none if it is in no exported one.
  [[nodiscard]] std::vector<std::string_view> NamesAt(std::uint64_t address) const;

 private:
  TargetModule() = default;

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::vector<ExportedSymbol> symbols_;  // by address
};

}  // namespace leakgate
