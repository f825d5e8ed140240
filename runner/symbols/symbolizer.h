// Turns an address into the functions, the file and the line that a person reads.
//
// The runner calls it, on one thread at a time, for the modules that the agent recorded. It
// reads the module's file on disk and its separate debug file (found by build-id or debuglink, or
// on a server: symbol_files.h); it never reads a process.
//
// Nothing here fails: what is not known is left empty. If a file is missing, truncated, or of
// another build than the mapped one (its build-id differs), a frame has only the module and the
// offset in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runner/region/region_copies.h"
#include "runner/symbols/frame.h"
#include "runner/symbols/symbol_cache.h"

namespace leakgate {

class Symbolizer {
 public:
  // Returns true for the path of a module whose own symbols are enough: then its separate debug
  // information, which may be large and compressed, is not searched for.
  using SymbolsAreEnough = std::function<bool(std::string_view path)>;

  // Returns whether the function of a frame allocates for its caller. It is called once for each.
  using FindWrapper = std::function<Wrapper(const Frame&)>;

  // `kept` is what earlier runs have found out; it outlives this. Null: nothing is kept.
  explicit Symbolizer(SymbolsAreEnough symbols_are_enough = nullptr, SymbolCache* kept = nullptr);
  // Use this for a process that ran earlier, or on another machine: files are also looked for by
  // build-id, in `directories` and on the servers that DEBUGINFOD_URLS names.
  Symbolizer(SymbolsAreEnough symbols_are_enough, std::vector<std::filesystem::path> directories);
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;

  // From now on frames say whether they are of wrappers.
  void MarkWrappers(FindWrapper find);

  // Returns the frames at the return address `pc` in `module`, innermost first; there is at
  // least one. The last frame is the function that has the machine code, and only that one has a
  // `called_function`; the others were inlined.
  [[nodiscard]] std::vector<Frame> Symbolize(const Module& module, std::uint64_t pc);

  // Returns the last of these frames by the symbol table alone, without a file and a line. Debug
  // information is not read, which takes most of the time.
  [[nodiscard]] Frame NameBySymbol(const Module& module, std::uint64_t pc);

  [[nodiscard]] ModuleFileState StateOf(const Module& module);

 private:
  struct Caches;
  std::unique_ptr<Caches> caches_;
};

}  // namespace leakgate
