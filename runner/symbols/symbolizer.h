// From an address to the functions, file and line that a person reads.
//
// The runner calls it, on one thread at a time, for the modules that the agent
// recorded. Everything comes from the module's file on disk and its separate
// debug file (by build-id or debuglink; from a debuginfod server only if the
// user's DEBUGINFOD_URLS names one), never from a process.
//
// Nothing here fails: what cannot be told is left empty. A file that is gone,
// cut off, or another one than was mapped (its build-id differs) yields frames
// with the module and the offset in it alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runner/snapshot/module.h"
#include "runner/symbols/frame.h"

namespace leakgate {

class Symbolizer {
 public:
  // Says of a module's path that its own symbols are enough: separate debug
  // information, which may be large and compressed, is not looked for.
  using SymbolsAreEnough = std::function<bool(std::string_view path)>;

  explicit Symbolizer(SymbolsAreEnough symbols_are_enough = nullptr);
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;

  // The frames at the return address `pc` in `module`, innermost first, never
  // none. Functions inlined there are frames of their own, with `inlined` set;
  // the last frame is the function that has the machine code, and it alone has
  // a `called_function`.
  [[nodiscard]] std::vector<Frame> Symbolize(const Module& module, std::uint64_t pc);

 private:
  struct Caches;
  std::unique_ptr<Caches> caches_;
};

}  // namespace leakgate
