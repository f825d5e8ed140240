// Finds functions and variables by address in the symbols of a PE file: mingw's symbol table, or
// else what the file exports. Neither has sizes, so a function's extent comes from the table for
// exceptions.
//
// `file` must outlive the object. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/symbols/nt/pe_file.h"
#include "runner/symbols/variables.h"

namespace leakgate {

class PeSymbols {
 public:
  explicit PeSymbols(const PeFile& file) : file_(file) {}

  // Returns the symbols, as the linker spells them, of the function that has `address`: the best
  // one first. Empty if no function that is known has it. The first call reads the table.
  [[nodiscard]] std::vector<std::string> NamesAt(std::uint64_t address);

  struct Data {
    std::string name;
    VariableExtent extent;  // up to the next symbol
  };
  // Returns the symbol that has `address`, which is no address of code.
  [[nodiscard]] std::optional<Data> DataAt(std::uint64_t address);

 private:
  void Read();
  // Returns the symbols at the address at which the last one up to `address` is; none before
  // `least`.
  [[nodiscard]] std::vector<std::string> LastAt(std::uint64_t address, std::uint64_t least) const;

  const PeFile& file_;
  bool is_read_ = false;
  std::vector<PeFile::Symbol> symbols_;  // by address
};

}  // namespace leakgate
