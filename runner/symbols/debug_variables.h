// Where a module's variables are declared, by debug information. Used by
// Variables; one thread.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "runner/symbols/debug_functions.h"

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

}  // namespace leakgate
