#include "plugin/agent/unwind/module_image.h"

#include <windows.h>

#include "plugin/agent/nt/image.h"
#include "plugin/agent/nt/library_list.h"

namespace leakgate::agent {
namespace {

FrameSection SectionOf(const Image& image) {
  const Image::Directory table = image.directory(IMAGE_DIRECTORY_ENTRY_EXCEPTION);
  const std::uint32_t count = table.bytes / sizeof(RUNTIME_FUNCTION);
  if (image.At<RUNTIME_FUNCTION>(table.offset, count) == nullptr) {
    return {image.base(), image.bytes(), 0, 0};
  }
  return {image.base(), image.bytes(), table.offset, count};
}

// The record by which a debugger finds the PDB: "RSDS", a GUID, an age.
struct PdbRecord {
  char magic[4];
  std::uint8_t guid_and_age[20];
};

}  // namespace

bool FindModuleImage(std::uint64_t pc, ModuleImage& image) {
  const Library library = FindLibrary(pc);
  if (library.begin == 0) return false;
  const Image mapped(library.begin);
  image.begin = library.begin;
  image.end = library.end;
  // Addresses in the file are offsets from the image here: images have no address that is always
  // theirs.
  image.bias = library.begin;
  image.section = SectionOf(mapped);
  image.path = library.path;
  return true;
}

void FindBuildId(ModuleImage& image) {
  const Image mapped(image.begin);
  const Image::Directory debug = mapped.directory(IMAGE_DIRECTORY_ENTRY_DEBUG);
  const std::uint32_t count = debug.bytes / sizeof(IMAGE_DEBUG_DIRECTORY);
  const auto* const entries = mapped.At<IMAGE_DEBUG_DIRECTORY>(debug.offset, count);
  for (std::uint32_t i = 0; entries != nullptr && i < count; ++i) {
    const auto* const record = mapped.At<PdbRecord>(entries[i].AddressOfRawData);
    if (entries[i].Type != IMAGE_DEBUG_TYPE_CODEVIEW || record == nullptr) continue;
    if (__builtin_memcmp(record->magic, "RSDS", 4) != 0) continue;
    image.build_id = record->guid_and_age;
    image.build_id_length = sizeof(record->guid_and_age);
    return;
  }
}

const char* PathOf(const ModuleImage&, PathBuffer&) { return ""; }  // the list had none

void LearnModules() {}
void ForgetMissingModules() {}

}  // namespace leakgate::agent
