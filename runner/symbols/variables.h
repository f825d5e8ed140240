// Where a module's variables are declared, by debug information. Used by
// Variables; one thread.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "runner/symbols/debug_functions.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

class DebugVariables {
 public:
  explicit DebugVariables(Dwfl_Module* module) : module_(module) {}

  // Of the variable that begins at `address` in the file; of a thread-local, at
  // `offset` among them. Empty if it is not told, or not within the time there is.
  [[nodiscard]] SourcePosition PositionAt(std::uint64_t address);
  [[nodiscard]] SourcePosition ThreadLocalPositionAt(std::uint64_t offset);

 private:
  using Clock = std::chrono::steady_clock;

  SourcePosition Find(const std::unordered_map<std::uint64_t, Dwarf_Die>& variables,
                      std::uint64_t at) const;
  std::string FileOf(Dwarf_Die* die) const;
  void Read();
  void ReadScope(Dwarf_Die* scope, int depth, Clock::time_point deadline);
  void ReadVariable(Dwarf_Die* die);

  Dwfl_Module* module_;
  bool is_read_ = false;
  Dwarf_Addr bias_ = 0;
  std::unordered_map<std::uint64_t, Dwarf_Die> by_address_;
  std::unordered_map<std::uint64_t, Dwarf_Die> thread_locals_;
  // Where each unit was compiled, as its first half says; nullptr: it says nothing.
  std::unordered_map<Dwarf_CU*, const char*> directories_;
};

// The variables that a file's symbol tables and debug information name, by
// address: globals, statics of files, classes and functions, and thread-locals.
//
// The runner asks, on one thread at a time, for what holds a block. Files are
// opened when they are first asked for, and kept. Nothing here fails: what cannot
// be told is left empty. Positions come from debug information, which is read for
// half a second at most for each file.

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
