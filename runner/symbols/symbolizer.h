// From an address to the functions, file and line that a person reads.
//
// The runner calls it, on one thread at a time, for the modules that the agent
// recorded. Everything comes from the module's file on disk and its separate
// debug file (by build-id or debuglink; from a server as debug_servers.h says), never
// from a process.
//
// Nothing here fails: what cannot be told is left empty. A file that is gone,
// cut off, or another one than was mapped (its build-id differs) yields frames
// with the module and the offset in it alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runner/region/module.h"
#include "runner/symbols/frame.h"

namespace leakgate {

class Symbolizer {
 public:
  // Says of a module's path that its own symbols are enough: separate debug
  // information, which may be large and compressed, is not looked for.
  using SymbolsAreEnough = std::function<bool(std::string_view path)>;

  explicit Symbolizer(SymbolsAreEnough symbols_are_enough = nullptr);
  // For modules of a process of another time or machine: their files may also be in
  // `directories`, by build-id, or on a server that DEBUGINFOD_URLS names.
  Symbolizer(SymbolsAreEnough symbols_are_enough, std::vector<std::filesystem::path> directories);
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;

  // The frames at the return address `pc` in `module`, innermost first, never
  // none. Functions inlined there are frames of their own, with `inlined` set;
  // the last frame is the function that has the machine code, and it alone has
  // a `called_function`.
  [[nodiscard]] std::vector<Frame> Symbolize(const Module& module, std::uint64_t pc);

  // Whether the module's file has been found.
  [[nodiscard]] ModuleFileState StateOf(const Module& module);

 private:
  struct Caches;
  std::unique_ptr<Caches> caches_;
};

}  // namespace leakgate
