#include "runner/symbols/plain_sections.h"

#include <gelf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runner/symbols/elf/elf_file.h"

namespace leakgate {
namespace {

// From the gABI's "Section Compression"; <elf.h> of glibc 2.36 does not have it.
constexpr GElf_Word kCompressedByZstd = 2;

constexpr std::uint64_t kMostPlainBytes = std::uint64_t{8} << 30;
constexpr std::uint64_t kMostAlignment = 4096;

struct CompressedSection {
  std::size_t index = 0;
  std::span<const std::byte> bytes;  // without the header
  std::uint64_t plain_bytes = 0;
  std::uint64_t alignment = 1;
  std::uint64_t offset = 0;  // in the copy, of what is decompressed
};

std::optional<CompressedSection> CompressionOf(Elf_Scn* section) {
  GElf_Shdr header;
  GElf_Chdr compression;
  if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_COMPRESSED) == 0 ||
      gelf_getchdr(section, &compression) == nullptr || compression.ch_type != kCompressedByZstd) {
    return std::nullopt;
  }
  const Elf_Data* const data = elf_rawdata(section, nullptr);
  const bool is_sound = data != nullptr && data->d_size > sizeof(Elf64_Chdr) &&
                        compression.ch_size <= kMostPlainBytes &&
                        compression.ch_addralign <= kMostAlignment;
  if (!is_sound) return std::nullopt;
  const auto* const begin = static_cast<const std::byte*>(data->d_buf);
  return CompressedSection{.index = elf_ndxscn(section),
                           .bytes = {begin + sizeof(Elf64_Chdr), begin + data->d_size},
                           .plain_bytes = compression.ch_size,
                           .alignment = std::max<std::uint64_t>(compression.ch_addralign, 1)};
}

std::vector<CompressedSection> CompressedSectionsOf(Elf* elf) {
  std::vector<CompressedSection> sections;
  if (gelf_getclass(elf) != ELFCLASS64) return sections;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    if (auto compressed = CompressionOf(section)) sections.push_back(*compressed);
  }
  return sections;
}

// Places the sections after `end`. Returns where the last one ends; 0 if they are too large.
std::uint64_t Place(std::uint64_t end, std::vector<CompressedSection>& sections) {
  const std::uint64_t most = end + kMostPlainBytes;
  for (CompressedSection& section : sections) {
    section.offset = (end + kMostAlignment - 1) / kMostAlignment * kMostAlignment;
    end = section.offset + section.plain_bytes;
    if (end > most) return 0;
  }
  return end;
}

struct Unmapper {
  std::size_t bytes = 0;
  void operator()(std::byte* begin) const { ::munmap(begin, bytes); }
};

// Decompresses into the copy, and corrects the section's header.
void Decompress(const CompressedSection& section, std::uint64_t headers, std::byte* copy) {
  const std::size_t got = ::ZSTD_decompress(copy + section.offset, section.plain_bytes,
                                            section.bytes.data(), section.bytes.size());
  if (::ZSTD_isError(got) != 0 || got != section.plain_bytes) return;
  Elf64_Shdr header;
  std::byte* const place = copy + headers + section.index * sizeof(header);
  std::memcpy(&header, place, sizeof(header));
  header.sh_flags &= ~std::uint64_t{SHF_COMPRESSED};
  header.sh_offset = section.offset;
  header.sh_size = section.plain_bytes;
  header.sh_addralign = section.alignment;
  std::memcpy(place, &header, sizeof(header));
}

}  // namespace

UniqueFd WithPlainSections(UniqueFd file) {
  const ElfHandle elf = OpenElf(file);
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return file;
  std::vector<CompressedSection> sections = CompressedSectionsOf(elf.get());
  GElf_Ehdr header;
  std::size_t count = 0;
  const char* const bytes = elf_rawfile(elf.get(), &count);
  if (sections.empty() || bytes == nullptr || gelf_getehdr(elf.get(), &header) == nullptr) {
    return file;
  }
  const std::uint64_t end = Place(count, sections);
  UniqueFd copy(::memfd_create("leakgate-symbols", MFD_CLOEXEC));
  if (end == 0 || !copy || ::ftruncate(copy.get(), static_cast<off_t>(end)) != 0) return file;
  void* const mapped = ::mmap(nullptr, end, PROT_READ | PROT_WRITE, MAP_SHARED, copy.get(), 0);
  if (mapped == MAP_FAILED) return file;
  const std::unique_ptr<std::byte, Unmapper> plain(static_cast<std::byte*>(mapped), Unmapper{end});
  std::memcpy(plain.get(), bytes, count);
  for (const CompressedSection& section : sections) {
    Decompress(section, header.e_shoff, plain.get());
  }
  return copy;
}

}  // namespace leakgate
