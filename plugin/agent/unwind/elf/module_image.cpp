#include "plugin/agent/unwind/module_image.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "common/region_layout.h"
#include "plugin/agent/linux/find_object.h"

namespace leakgate::agent {
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

BuildId BuildIdOf(std::uint64_t begin, std::uint64_t end, std::uint64_t bias) {
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

bool FindModuleImage(std::uint64_t pc, ModuleImage& image) {
  LoadedObject object;
  if (!FindObject(reinterpret_cast<const void*>(pc), object)) return false;
  image.begin = object.begin;
  image.end = object.end;
  image.bias = object.bias;
  image.section = SectionOf(object);
  image.path = PathInName(object.Name());
  return true;
}

void FindBuildId(ModuleImage& image) {
  const BuildId found = BuildIdOf(image.begin, image.end, image.bias);
  image.build_id = found.bytes;
  image.build_id_length = found.length;
}

const char* PathOf(const ModuleImage& image, PathBuffer& buffer) {
  return PathOfMapping(image.begin, buffer);
}

void LearnModules() { LearnObjects(); }
void ForgetMissingModules() { ForgetWhereNoObjectIs(); }

}  // namespace leakgate::agent
