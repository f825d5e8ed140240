// The frame of a snapshot file: parts, each with its length and its checksum.
// docs/snapshot-format.md is the whole description. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leakgate::snapshot_format {

// The first line of the file. The number is the major version: a reader of the same one
// skips the kinds of parts, and the ends of records, that it does not know.
inline constexpr std::string_view kFirstLine = "leakgate-snapshot-1\n";
inline constexpr std::string_view kAnyVersion = "leakgate-snapshot-";

enum class PartKind : std::uint32_t {
  kFacts = 1,  // the first part
  kModules = 2,
  kStacks = 3,
  kWindows = 4,
  kThreads = 5,
  kBlocks = 6,
  kMappings = 7,
  kClosing = 8,  // the last part
  kFrees = 9,    // who has freed what
};

// Little-endian, as x86-64 has it in memory.
struct PartHeader {
  std::uint32_t kind;          // PartKind
  std::uint32_t number;        // of the part in the file, from 0
  std::uint32_t plain_bytes;   // of what the part holds
  std::uint32_t stored_bytes;  // of the zstd frame that follows
  std::uint64_t checksum;      // XXH3, 64 bits, of the 16 bytes before and of the frame
};
static_assert(sizeof(PartHeader) == 24);
inline constexpr std::size_t kCheckedHeaderBytes = 16;

// A reader needs no more memory for a part than this.
inline constexpr std::uint32_t kMostPlainBytes = 4U << 20;
inline constexpr std::uint32_t kMostStoredBytes = kMostPlainBytes + (64U << 10);

// Limits that no region exceeds.
inline constexpr std::uint32_t kMostBlocksPerPart = 1U << 15;
inline constexpr std::uint32_t kMostTextBytes = 1U << 16;
inline constexpr std::uint64_t kMostTextInAll = 1ULL << 28;
inline constexpr std::uint32_t kMostWords = 1U << 14;  // of the command line

}  // namespace leakgate::snapshot_format
