// The modules that recorded stacks run through. They are found on demand, without the dynamic
// linker's lock (module_image.h), so nothing here can deadlock with dlopen. Each module is recorded
// once in the region, with its path and build-id. A module that is loaded again, or another one at
// the same addresses, is recorded again, so that older stacks keep their meaning.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/agent/base/epoch.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/base/visibility.h"
#include "plugin/agent/unwind/module_image.h"

namespace leakgate::agent {

struct ModuleView {
  std::uint32_t id = 0;  // in the region; 0 if the pc is in no module
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  FrameSection section;
};

class ModuleTable {
 public:
  // Returns the module that holds `pc` now.
  ModuleView Find(std::uint64_t pc);

  // Starts again in another region, where nothing has been recorded.
  void Restart();

  // Changes whenever a module may have been unmapped. Then all that has been cached about pcs must
  // be forgotten.
  std::uint32_t Epoch() const { return epoch_.load(std::memory_order_acquire); }
  void ModulesMayHaveGone();

  // Notes that a stack ran through code at `pc` that is in no module, such as code that the program
  // has made itself.
  void NoteCodeOutside(std::uint64_t pc);
  // Notes that [begin, end) has been unmapped, where a module may be mapped next. If code that is
  // in no module was there, all that has been cached about it must be forgotten.
  void NoteUnmapped(std::uint64_t begin, std::uint64_t end);

 private:
  std::uint32_t FindRecent(std::uint64_t pc) const;
  static bool HasPathOf(const ModuleRecord& known, const ModuleImage& loaded);
  static std::uint32_t FindKnown(const ModuleImage& loaded);
  std::uint32_t Identify(ModuleImage& loaded);
  std::uint32_t Add(const ModuleImage& loaded);

  // Stored with release when it is raised, after the change, and acquired by Epoch().
  std::atomic<std::uint32_t> epoch_{1};
  // The bounds of the code outside modules that has been noted since the epoch last changed because
  // of it. Relaxed: a thread that unmaps code comes after those that ran it, as the program
  // ensures.
  std::atomic<std::uint64_t> outside_begin_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> outside_end_{0};
  SpinLock lock_;
  PathBuffer path_buffer_{};  // here, not on the host's stack
  // The modules found last, in a ring, of one epoch.
  static constexpr std::uint32_t kMostRecent = 8;
  std::uint32_t recent_[kMostRecent] = {};
  std::uint32_t recent_count_ = 0;
  std::uint32_t recent_epoch_ = 0;
};

extern LEAKGATE_INTERNAL ModuleTable g_modules;

}  // namespace leakgate::agent
