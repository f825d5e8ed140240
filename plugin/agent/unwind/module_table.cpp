#include "plugin/agent/unwind/module_table.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "plugin/agent/linux/find_object.h"

namespace leakgate::agent {

constinit ModuleTable g_modules;

struct ModuleTable::Loaded {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bias;
  const char* path;
  std::uint32_t path_length;
  const std::uint8_t* build_id;
  std::uint32_t build_id_length;
};

namespace {

struct BuildId {
  const std::uint8_t* bytes = nullptr;
  std::uint32_t length = 0;
};

constexpr std::uint64_t AlignNote(std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; }

BuildId FindInNotes(const std::uint8_t* notes, std::uint64_t bytes) {
  std::uint64_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= bytes) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof(note));
    const std::uint64_t name = at + sizeof(note);
    const std::uint64_t content = name + AlignNote(note.n_namesz);
    at = content + AlignNote(note.n_descsz);
    if (at > bytes) break;
    const bool is_gnu = note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID &&
        note.n_descsz <= sizeof(ModuleRecord::build_id)) {
      return {notes + content, note.n_descsz};
    }
  }
  return {};
}

struct Segments {
  const ElfW(Phdr) * first = nullptr;
  std::uint32_t count = 0;
};

// Reads from the module's first mapped page, which holds its ELF header.
Segments SegmentsOf(std::uint64_t begin, std::uint64_t end) {
  ElfW(Ehdr) header;
  std::memcpy(&header, reinterpret_cast<const void*>(begin), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(ElfW(Phdr)) > end - begin) return {};
  return {reinterpret_cast<const ElfW(Phdr)*>(begin + header.e_phoff), header.e_phnum};
}

BuildId FindBuildId(std::uint64_t begin, std::uint64_t end, std::uint64_t bias) {
  const Segments segments = SegmentsOf(begin, end);
  for (std::uint32_t i = 0; i < segments.count; ++i) {
    const ElfW(Phdr)& segment = segments.first[i];
    const std::uint64_t at = bias + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || at < begin || at + segment.p_memsz > end) continue;
    const BuildId found = FindInNotes(reinterpret_cast<const std::uint8_t*>(at), segment.p_memsz);
    if (found.length != 0) return found;
  }
  return {};
}

// Returns the frame descriptions, limited to their segment: between two segments there may be
// nothing.
FrameSection SectionOf(const LoadedObject& object) {
  const std::uint8_t* const header = object.frame_header;
  const Segments segments = SegmentsOf(object.begin, object.end);
  for (std::uint32_t i = 0; i < segments.count; ++i) {
    const ElfW(Phdr)& segment = segments.first[i];
    const auto* const at = reinterpret_cast<const std::uint8_t*>(object.bias + segment.p_vaddr);
    if (segment.p_type != PT_LOAD || header < at || header >= at + segment.p_memsz) continue;
    return {header, at, at + segment.p_memsz};
  }
  return {header, reinterpret_cast<const std::uint8_t*>(object.begin),
          reinterpret_cast<const std::uint8_t*>(object.end)};
}

}  // namespace

void ModuleTable::Restart() {
  lock_.Reset();
  recent_count_ = 0;
  LearnObjects();
  ModulesMayHaveGone();
}

void ModuleTable::ModulesMayHaveGone() {
  ForgetWhereNoObjectIs();
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  RaiseEpoch();
}

ModuleView ModuleTable::Find(std::uint64_t pc) {
  LoadedObject object;
  if (!FindObject(reinterpret_cast<const void*>(pc), object)) return {};

  ModuleView view;
  view.begin = object.begin;
  view.end = object.end;
  view.section = SectionOf(object);
  const SpinGuard guard(lock_);
  if (recent_epoch_ != Epoch()) recent_count_ = 0;
  recent_epoch_ = Epoch();
  view.id = FindRecent(pc);
  if (view.id != 0) return view;

  Loaded loaded{};
  loaded.begin = view.begin;
  loaded.end = view.end;
  loaded.bias = object.bias;
  const BuildId build_id = FindBuildId(loaded.begin, loaded.end, loaded.bias);
  loaded.build_id = build_id.bytes;
  loaded.build_id_length = build_id.length;
  view.id = Identify(loaded, PathInName(object.Name()));
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
bool ModuleTable::HasPathOf(const ModuleRecord& known, const Loaded& loaded) {
  if (loaded.path_length == 0 && loaded.build_id_length != 0) return true;
  return known.path.length == loaded.path_length &&
         std::memcmp(g_region.text() + known.path.offset, loaded.path, loaded.path_length) == 0;
}

// Returns 0 if it is not known.
std::uint32_t ModuleTable::FindKnown(const Loaded& loaded) {
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

// `path` is nullptr if the kernel must be asked.
std::uint32_t ModuleTable::Identify(Loaded& loaded, const char* path) {
  if (path == nullptr && loaded.build_id_length != 0) {
    const std::uint32_t id = FindKnown(loaded);
    if (id != 0) return id;
  }
  loaded.path = path != nullptr ? path : PathOfMapping(loaded.begin, path_buffer_);
  loaded.path_length = static_cast<std::uint32_t>(std::strlen(loaded.path));
  const std::uint32_t id = FindKnown(loaded);
  return id != 0 ? id : Add(loaded);
}

std::uint32_t ModuleTable::Add(const Loaded& loaded) {
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
