// Tells of which build a PE file is: a program or a DLL of Windows. The agent records it as a
// module's build-id, from the image in memory; the runner compares it with that of the file that it
// reads.
//
//   GUID and age of the PDB (20 bytes)     where the linker has written them, as debuggers compare
//   them time stamp, size of the image and      for all other files checksum of their header (12
//   bytes)
//
// Addresses in a module's file are relative to the image's begin ("RVA"), so a module's bias is the
// address at which the image begins. The image is not trusted.
#pragma once

#include <cstdint>

namespace leakgate {

struct PeIdentity {
  static constexpr std::uint32_t kMostBytes = 20;

  std::uint32_t length = 0;  // 0: it is no PE file for 64 bits
  std::uint8_t bytes[kMostBytes] = {};
};

namespace pe {

constexpr std::uint32_t WordAt(const std::uint8_t* at) {
  return at[0] | at[1] << 8 | at[2] << 16 | static_cast<std::uint32_t>(at[3]) << 24;
}
constexpr std::uint32_t HalfAt(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0] | at[1] << 8);
}

// Returns where the header of the image begins, with the optional header's fixed part behind it; 0
// if it is no image for 64 bits. `read(rva, size)` returns a pointer to `size` bytes of the image,
// or null if it has none.
constexpr std::uint32_t kHeaderBytes = 24 + 112;
template <typename Read>
std::uint32_t FindHeader(const Read& read) {
  const std::uint8_t* const dos = read(0, 64);
  if (dos == nullptr || HalfAt(dos) != 0x5A4D) return 0;
  const std::uint32_t begin = WordAt(dos + 0x3C);
  const std::uint8_t* const header = read(begin, kHeaderBytes);
  const bool is_pe = header != nullptr && WordAt(header) == 0x4550 && HalfAt(header + 24) == 0x20B;
  return is_pe ? begin : 0;
}

struct Directory {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};
enum DirectoryNumber : std::uint32_t {
  kExports = 0,
  kImports = 1,
  kExceptions = 3,
  kDebug = 6,
  kLoadConfiguration = 10
};

// Returns where a table of the image is; nothing if there is none.
template <typename Read>
Directory FindDirectory(const Read& read, DirectoryNumber number) {
  const std::uint32_t header = FindHeader(read);
  if (header == 0 || WordAt(read(header, kHeaderBytes) + 24 + 108) <= number) return {};
  const std::uint8_t* const entry = read(header + kHeaderBytes + 8 * number, 8);
  return entry == nullptr ? Directory{} : Directory{WordAt(entry), WordAt(entry + 4)};
}

}  // namespace pe

// `read` is as for pe::FindHeader.
template <typename Read>
PeIdentity FindPeIdentity(const Read& read) {
  constexpr std::uint32_t kEntryBytes = 28;
  constexpr std::uint32_t kMostEntries = 16;
  constexpr std::uint32_t kCodeView = 2;
  constexpr std::uint32_t kOfPdb = 0x5344'5352;  // "RSDS"
  PeIdentity identity;
  const std::uint32_t header = pe::FindHeader(read);
  if (header == 0) return identity;
  const auto copy = [&](const std::uint8_t* from, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) identity.bytes[identity.length++] = from[i];
  };
  const pe::Directory debug = pe::FindDirectory(read, pe::kDebug);
  for (std::uint32_t i = 0; i < debug.size / kEntryBytes && i < kMostEntries; ++i) {
    const std::uint8_t* const entry = read(debug.begin + i * kEntryBytes, kEntryBytes);
    if (entry == nullptr) break;
    if (pe::WordAt(entry + 12) != kCodeView || pe::WordAt(entry + 20) == 0) continue;
    const std::uint8_t* const pdb = read(pe::WordAt(entry + 20), 24);
    if (pdb == nullptr || pe::WordAt(pdb) != kOfPdb) continue;
    copy(pdb + 4, PeIdentity::kMostBytes);
    return identity;
  }
  const std::uint8_t* const fixed = read(header, pe::kHeaderBytes);
  copy(fixed + 8, 4);        // time stamp
  copy(fixed + 24 + 56, 4);  // size of the image
  copy(fixed + 24 + 64, 4);  // checksum
  return identity;
}

}  // namespace leakgate
