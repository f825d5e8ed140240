// Names what holds blocks.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runner/reach/holders.h"
#include "runner/reach/nt/root_ranges.h"
#include "runner/symbols/variables.h"

namespace leakgate {

// Names a root for people: by its variable, or else by the stack, the registers or the memory that
// it is in. The process may run meanwhile: names come from copies and from files on disk.
class RootNamer {
 public:
  // All arguments must outlive the object. `is_heap` tells whether an address is in a heap, between
  // blocks. `objects` has names of what holds blocks without an address.
  RootNamer(const std::vector<MemoryRange>& memory, const std::vector<ImageModule>& modules,
            const std::vector<StoppedThread>& threads, const std::vector<std::string>& objects,
            std::function<bool(std::uint64_t)> is_heap, Variables& variables)
      : memory_(memory),
        modules_(modules),
        threads_(threads),
        objects_(objects),
        is_heap_(std::move(is_heap)),
        variables_(variables) {}

  [[nodiscard]] NamedRoot NameOf(const RootPlace& place) const;

 private:
  [[nodiscard]] std::string ThreadText(int tid) const;
  [[nodiscard]] std::string GlobalText(const FileAddress& at) const;
  [[nodiscard]] std::string MappingText(std::uint64_t address) const;

  const std::vector<MemoryRange>& memory_;
  const std::vector<ImageModule>& modules_;
  const std::vector<StoppedThread>& threads_;
  const std::vector<std::string>& objects_;
  std::function<bool(std::uint64_t)> is_heap_;
  Variables& variables_;
};

}  // namespace leakgate
