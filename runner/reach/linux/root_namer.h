// Names what holds blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/process/proc_files.h"
#include "runner/reach/linux/frozen_process.h"
#include "runner/reach/linux/kernel_words.h"
#include "runner/reach/linux/root_ranges.h"
#include "runner/reach/reach.h"
#include "runner/symbols/variables.h"

namespace leakgate {

// Names a root for people: by its variable, or else by the stack, the registers or the mapping that
// it is in. The process may run meanwhile: names come from copies and from files on disk.
class RootNamer {
 public:
  // All arguments must outlive the object.
  RootNamer(const std::vector<MappedRange>& maps, const std::vector<MappedModule>& modules,
            const std::vector<FrozenThread>& threads, const std::vector<KernelObject>& objects,
            Variables& variables)
      : maps_(maps),
        modules_(modules),
        threads_(threads),
        objects_(objects),
        variables_(variables) {}

  // Returns "net::g_cache (net/cache.cc:12)" or "the stack of thread 7 'worker'", say; never an
  // empty text.
  [[nodiscard]] std::string NameOf(const RootPlace& place) const;

  // Returns the root's address in its module's file; nullopt if the root is in no module.
  [[nodiscard]] std::optional<FileAddress> GlobalAt(const RootPlace& place) const;

 private:
  [[nodiscard]] std::string ThreadText(int tid) const;
  [[nodiscard]] std::string ThreadLocalText(const FrozenThread& thread,
                                            std::uint64_t address) const;
  [[nodiscard]] std::string GlobalText(const FileAddress& at) const;
  [[nodiscard]] std::string MappingText(std::uint64_t address) const;
  [[nodiscard]] const MappedModule* Program() const;

  const std::vector<MappedRange>& maps_;
  const std::vector<MappedModule>& modules_;
  const std::vector<FrozenThread>& threads_;
  const std::vector<KernelObject>& objects_;
  Variables& variables_;
};

}  // namespace leakgate
