// Finds variables by address in the symbol tables and the debug information of a file: globals,
// statics of files, classes and functions, and thread-locals.
//
// The runner calls it, on one thread at a time, to name what holds a block. A file is opened when
// it is first asked for, and kept. Nothing here fails: what is not known is left empty. Reading
// the debug information of a file, which has the positions, ends after half a second.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runner/symbols/frame.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

struct Variable {
  std::string name;         // "net::g_cache", "net::Cache()::cache"; demangled
  SourcePosition position;  // where it is declared; empty if unknown

  friend bool operator==(const Variable&, const Variable&) = default;
};

struct VariableExtent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Variables {
 public:
  // `kept` is what earlier runs have found out; it outlives this. Null: nothing is kept.
  explicit Variables(Symbolizer::SymbolsAreEnough symbols_are_enough = nullptr,
                     SymbolCache* kept = nullptr);
  ~Variables();
  Variables(Variables&&) noexcept;
  Variables& operator=(Variables&&) noexcept;

  // Returns the variable that has `address`, an address in the file at `path`; nullopt if no
  // variable has it.
  [[nodiscard]] std::optional<Variable> At(const std::string& path, std::uint64_t address);

  // Returns the bytes of the variable that has `address`, as addresses in the file; those of one
  // word if no symbol has its size.
  [[nodiscard]] VariableExtent ExtentAt(const std::string& path, std::uint64_t address);

  // Returns the thread-local variable at `offset` in the file's thread-local storage; nullopt if
  // there is none.
  [[nodiscard]] std::optional<Variable> ThreadLocalAt(const std::string& path,
                                                      std::uint64_t offset);

 private:
  struct Caches;
  std::unique_ptr<Caches> caches_;
};

}  // namespace leakgate
