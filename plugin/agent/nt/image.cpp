#include "plugin/agent/nt/image.h"

#include <windows.h>

#include <cstring>

namespace leakgate::agent {

Image::Image(std::uint64_t base) : base_(base) {
  if (base == 0) return;
  const auto& dos = *reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
  constexpr LONG kMostAhead = 0x1000;
  if (dos.e_magic != IMAGE_DOS_SIGNATURE || dos.e_lfanew <= 0 || dos.e_lfanew > kMostAhead) return;
  const auto& header =
      *reinterpret_cast<const IMAGE_NT_HEADERS64*>(base + static_cast<std::uint64_t>(dos.e_lfanew));
  if (header.Signature != IMAGE_NT_SIGNATURE ||
      header.FileHeader.Machine != IMAGE_FILE_MACHINE_AMD64 ||
      header.OptionalHeader.Magic != IMAGE_NT_OPTIONAL_HDR64_MAGIC) {
    return;
  }
  header_ = static_cast<std::uint32_t>(dos.e_lfanew);
  bytes_ = header.OptionalHeader.SizeOfImage;
}

Image::Directory* Image::PlaceOfDirectory(std::uint32_t index) const {
  const auto* const header = At<IMAGE_NT_HEADERS64>(header_);
  if (header == nullptr || index >= header->OptionalHeader.NumberOfRvaAndSizes) return nullptr;
  static_assert(sizeof(Directory) == sizeof(IMAGE_DATA_DIRECTORY));
  return At<Directory>(header_ + offsetof(IMAGE_NT_HEADERS64, OptionalHeader.DataDirectory) +
                       index * sizeof(Directory));
}

Image::Directory Image::directory(std::uint32_t index) const {
  const Directory* const place = PlaceOfDirectory(index);
  return place == nullptr ? Directory{} : *place;
}

Image::Directory Image::FindSection(const char* name) const {
  const auto* const header = At<IMAGE_NT_HEADERS64>(header_);
  if (header == nullptr) return {};
  const std::uint32_t count = header->FileHeader.NumberOfSections;
  const auto* const sections =
      At<IMAGE_SECTION_HEADER>(header_ + offsetof(IMAGE_NT_HEADERS64, OptionalHeader) +
                                   header->FileHeader.SizeOfOptionalHeader,
                               count);
  char padded[IMAGE_SIZEOF_SHORT_NAME] = {};
  std::memcpy(padded, name, std::strlen(name));
  for (std::uint32_t i = 0; sections != nullptr && i < count; ++i) {
    if (std::memcmp(sections[i].Name, padded, sizeof(padded)) == 0) {
      return {sections[i].VirtualAddress, sections[i].Misc.VirtualSize};
    }
  }
  return {};
}

}  // namespace leakgate::agent
