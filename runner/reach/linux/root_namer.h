// What a root is called, for people: the variable, or else whose stack, whose
// registers or which mapping it is in.
//
// Once the process goes on: all it needs is copied, but for the files on disk.
#pragma once

#include <string>
#include <vector>

#include "runner/reach/linux/root_ranges.h"
#include "runner/symbols/variables.h"

namespace leakgate {

class RootNamer {
 public:
  // All outlive it.
  RootNamer(const std::vector<MappedRange>& maps, const std::vector<MappedModule>& modules,
            const std::vector<FrozenThread>& threads, Variables& variables)
      : maps_(maps), modules_(modules), threads_(threads), variables_(variables) {}

  // "net::g_cache (net/cache.cc:12)", "the stack of thread 7 'worker'".
  [[nodiscard]] std::string NameOf(const RootPlace& place) const;

 private:
  [[nodiscard]] std::string ThreadText(int tid) const;
  [[nodiscard]] std::string ThreadLocalText(const FrozenThread& thread,
                                            std::uint64_t address) const;
  [[nodiscard]] std::string GlobalText(const MappedModule& module, std::uint64_t address) const;
  [[nodiscard]] std::string MappingText(std::uint64_t address) const;
  [[nodiscard]] const MappedModule* Program() const;

  const std::vector<MappedRange>& maps_;
  const std::vector<MappedModule>& modules_;
  const std::vector<FrozenThread>& threads_;
  Variables& variables_;
};

}  // namespace leakgate
