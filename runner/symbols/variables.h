// The variables that a file's symbol tables and debug information name, by
// address: globals, statics of files, classes and functions, and thread-locals.
//
// The runner asks, on one thread at a time, for what holds a block. Files are
// opened when they are first asked for, and kept. Nothing here fails: what cannot
// be told is left empty. Positions come from debug information, which is read for
// half a second at most for each file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runner/symbols/debug_functions.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

struct Variable {
  std::string name;         // "net::g_cache", "net::Cache()::cache"; demangled
  SourcePosition position;  // where it is declared; empty if unknown

  friend bool operator==(const Variable&, const Variable&) = default;
};

class Variables {
 public:
  explicit Variables(Symbolizer::SymbolsAreEnough symbols_are_enough = nullptr);
  ~Variables();
  Variables(Variables&&) noexcept;
  Variables& operator=(Variables&&) noexcept;

  // The variable of the file at `path` that has `address`, one of the file's own.
  [[nodiscard]] std::optional<Variable> At(const std::string& path, std::uint64_t address);

  // The same for a thread-local, by its place among those of the file.
  [[nodiscard]] std::optional<Variable> ThreadLocalAt(const std::string& path,
                                                      std::uint64_t offset);

 private:
  struct Caches;
  std::unique_ptr<Caches> caches_;
};

}  // namespace leakgate
