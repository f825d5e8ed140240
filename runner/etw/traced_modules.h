// The modules of a traced process, with the times between which each was loaded: another one may
// have been at the same addresses earlier. One thread.
//
//   a.dll loaded at 10, unloaded at 20, b.dll loaded there at 30   -> at 15 a.dll, at 25 none
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runner/region/region_copies.h"

namespace leakgate {

class TracedModules {
 public:
  // Times are those of the events, and never less than an earlier call's.

  // Notes that a module is loaded from `time` on. None of those in its place is there any more.
  void Load(Module module, std::uint64_t time);
  // Notes that a module is there at `time`, and has been since the last one in its place went.
  void Meet(Module module, std::uint64_t time);
  // Notes that the module that begins at `begin` has gone.
  void Unload(std::uint64_t begin, std::uint64_t time);

  // Returns the number of the module that had `address` at `time`; nothing if none had.
  [[nodiscard]] std::optional<std::size_t> Find(std::uint64_t address, std::uint64_t time) const;
  [[nodiscard]] const Module& operator[](std::size_t number) const { return modules_[number]; }

  // Returns how many modules had come and gone by `time`. While that is the same, all addresses are
  // in the same modules.
  [[nodiscard]] std::size_t CountChanges(std::uint64_t time) const;

 private:
  struct Span {
    std::size_t module;
    std::uint64_t loaded;
    std::uint64_t unloaded;
  };
  // Ends what is in the place of `module` at `time`. Returns when the last one there ended.
  std::uint64_t MakeRoom(const Module& module, std::uint64_t time);
  void Add(Module module, std::uint64_t loaded);

  std::vector<Module> modules_;
  std::map<std::uint64_t, std::vector<Span>> spans_;  // by the module's begin; in order of time
  std::uint64_t longest_bytes_ = 0;                   // of a module
  std::vector<std::uint64_t> changes_;                // times
};

}  // namespace leakgate
