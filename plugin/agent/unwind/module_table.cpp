#include "plugin/agent/unwind/module_table.h"

#include <cstring>

namespace leakgate::agent {

constinit ModuleTable g_modules;

void ModuleTable::Restart() {
  lock_.Reset();
  recent_count_ = 0;
  LearnModules();
  ModulesMayHaveGone();
}

void ModuleTable::ModulesMayHaveGone() {
  ForgetMissingModules();
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  RaiseEpoch();
}

ModuleView ModuleTable::Find(std::uint64_t pc) {
  ModuleImage image;
  if (!FindModuleImage(pc, image)) return {};

  ModuleView view;
  view.begin = image.begin;
  view.end = image.end;
  view.section = image.section;
  const SpinGuard guard(lock_);
  if (recent_epoch_ != Epoch()) recent_count_ = 0;
  recent_epoch_ = Epoch();
  view.id = FindRecent(pc);
  if (view.id != 0) return view;

  FindBuildId(image);
  view.id = Identify(image);
  if (view.id != 0) recent_[recent_count_++ % kMostRecent] = view.id;
  return view;
}

// Returns 0 if it is none of them.
std::uint32_t ModuleTable::FindRecent(std::uint64_t pc) const {
  const ModuleRecord* const modules = g_region.modules();
  const std::uint32_t count = recent_count_ < kMostRecent ? recent_count_ : kMostRecent;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ModuleRecord& module = modules[recent_[i]];
    if (pc >= module.begin && pc < module.end) return recent_[i];
  }
  return 0;
}

void ModuleTable::NoteCodeOutside(std::uint64_t pc) {
  std::uint64_t begin = outside_begin_.load(std::memory_order_relaxed);
  while (pc < begin &&
         !outside_begin_.compare_exchange_weak(begin, pc, std::memory_order_relaxed)) {
  }
  std::uint64_t end = outside_end_.load(std::memory_order_relaxed);
  while (pc >= end && !outside_end_.compare_exchange_weak(end, pc + 1, std::memory_order_relaxed)) {
  }
}

// If another thread is noting code at the moment, it notes it again: its walk finds that the epoch
// has changed.
void ModuleTable::NoteUnmapped(std::uint64_t begin, std::uint64_t end) {
  if (begin >= outside_end_.load(std::memory_order_relaxed) ||
      end <= outside_begin_.load(std::memory_order_relaxed)) {
    return;
  }
  outside_begin_.store(~std::uint64_t{0}, std::memory_order_relaxed);
  outside_end_.store(0, std::memory_order_relaxed);
  ModulesMayHaveGone();
}

// If its path is not known, the build-id must be enough: asking the kernel takes long, and a
// process that has changed its root or its user may not get an answer any more.
bool ModuleTable::HasPathOf(const ModuleRecord& known, const ModuleImage& loaded) {
  if (loaded.path_length == 0 && loaded.build_id_length != 0) return true;
  return known.path.length == loaded.path_length &&
         std::memcmp(g_region.text() + known.path.offset, loaded.path, loaded.path_length) == 0;
}

// Returns 0 if it is not known.
std::uint32_t ModuleTable::FindKnown(const ModuleImage& loaded) {
  const std::uint32_t count = g_region.header().module_count.load(std::memory_order_relaxed);
  for (std::uint32_t id = 1; id < count; ++id) {
    const ModuleRecord& known = g_region.modules()[id];
    if (known.begin == loaded.begin && known.end == loaded.end &&
        known.build_id_length == loaded.build_id_length &&
        std::memcmp(known.build_id, loaded.build_id, loaded.build_id_length) == 0 &&
        HasPathOf(known, loaded)) {
      return id;
    }
  }
  return 0;
}

std::uint32_t ModuleTable::Identify(ModuleImage& loaded) {
  if (loaded.path == nullptr && loaded.build_id_length != 0) {
    const std::uint32_t id = FindKnown(loaded);
    if (id != 0) return id;
  }
  if (loaded.path == nullptr) loaded.path = PathOf(loaded, path_buffer_);
  loaded.path_length = static_cast<std::uint32_t>(std::strlen(loaded.path));
  const std::uint32_t id = FindKnown(loaded);
  return id != 0 ? id : Add(loaded);
}

std::uint32_t ModuleTable::Add(const ModuleImage& loaded) {
  std::atomic<std::uint32_t>& count = g_region.header().module_count;
  const std::uint32_t id = count.load(std::memory_order_relaxed);
  if (id >= kMaxModules) return 0;

  ModuleRecord& record = g_region.modules()[id];
  record.begin = loaded.begin;
  record.end = loaded.end;
  record.bias = loaded.bias;
  record.path = g_region.AddText(loaded.path, loaded.path_length);
  record.build_id_length = loaded.build_id_length;
  std::memcpy(record.build_id, loaded.build_id, loaded.build_id_length);
  // Release: the runner acquires the count before it reads the record.
  count.store(id + 1, std::memory_order_release);
  return id;
}

}  // namespace leakgate::agent
