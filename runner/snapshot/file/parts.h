// Snapshot files and recordings consist of parts, each with its length and its checksum. They are
// written and read here; docs/internals/snapshot-format.md describes the format. Internal to this
// folder and to runner/recording/file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "runner/base/expected.h"

struct ZSTD_DCtx_s;
struct ZSTD_CCtx_s;

namespace leakgate::snapshot_format {

// What kind of file it is, in its first line and in messages. The number there is the major
// version: within it, a reader skips kinds of parts and ends of records that it does not know.
struct FileKind {
  std::string_view first_line;
  std::string_view any_version;  // how the first line begins, whatever its version
  std::string_view noun;
  std::string_view remedy;  // what to do about a file of another kind
};
inline constexpr FileKind kSnapshotFile{
    "leakgate-snapshot-1\n", "leakgate-snapshot-", "snapshot",
    "name a file that leakgate snapshot take or leakgate run --snapshots wrote"};
inline constexpr FileKind kRecordingFile{"leakgate-recording-1\n", "leakgate-recording-",
                                         "recording",
                                         "name a file that leakgate record has written"};

enum class PartKind : std::uint32_t {
  kFacts = 1,  // the first part
  kModules = 2,
  kStacks = 3,
  kWindows = 4,
  kThreads = 5,
  kBlocks = 6,
  kMappings = 7,
  kClosing = 8,  // the last part
  kFrees = 9,    // what each stack has freed
  // Of recordings alone:
  kEndedWindows = 10,  // windows again, with their ends
  kEndedThreads = 11,  // threads again, with their names
  kMarks = 12,         // names of marks
  kEvents = 13,
  kRound = 14,           // ends the events of one round
  kRecordingFacts = 15,  // follows the facts
  kRecordingEnd = 16,    // follows the closing
  kIndex = 17,           // where rounds are; the last part of all
  // Of snapshots alone:
  kPages = 18,           // the memory state of the pages of mappings
  kAllocations = 19,     // what each stack has allocated
  kSymbols = 20,         // the names of addresses
  kSymbolProblems = 21,  // why they are not known for some modules
};

// Little-endian, as x86-64 and aarch64 have it in memory.
struct PartHeader {
  std::uint32_t kind;          // PartKind
  std::uint32_t number;        // of the part in the file, from 0
  std::uint32_t plain_bytes;   // of what the part holds
  std::uint32_t stored_bytes;  // of the zstd frame that follows
  std::uint64_t checksum;      // XXH3, 64 bits, of the 16 bytes before and of the frame
};
static_assert(sizeof(PartHeader) == 24);
inline constexpr std::size_t kCheckedHeaderBytes = 16;

// A part is never larger than this, so that its reader needs no more memory.
inline constexpr std::uint32_t kMostPlainBytes = 4U << 20;
inline constexpr std::uint32_t kMostStoredBytes = kMostPlainBytes + (64U << 10);

// Limits that no region exceeds.
inline constexpr std::uint32_t kMostBlocksPerPart = 1U << 15;
inline constexpr std::uint32_t kMostTextBytes = 1U << 16;
inline constexpr std::uint64_t kMostTextInAll = 1ULL << 28;
inline constexpr std::uint32_t kMostFramesAtOneAddress = 1U << 10;  // inlined into one another
inline constexpr std::uint32_t kMostWords = 1U << 14;               // of the command line

// Counts how much memory the names in a file take in its reader. The writer counts in the same way:
// so a reader can read all that was written, even if something had to be left out.
inline constexpr std::uint64_t kMarkBytesBesidesName = 32;  // there may be any number of marks
class TextRoom {
 public:
  explicit TextRoom(std::uint64_t most_bytes = kMostTextInAll) : left_(most_bytes) {}

  // Returns false, and counts nothing, if there is no room for one more.
  [[nodiscard]] bool Take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::uint64_t left_;
};

struct Part {
  std::uint32_t kind = 0;  // PartKind, or a kind of a later leakgate
  std::string_view plain;  // valid until the next part is read
};

// Reads the parts of a snapshot file one after the other, in memory that does not grow. The
// file is not trusted, since it may be cut off, damaged or malicious: each part is checked
// before it is used.
class PartReader {
 public:
  // Errors name the file `name`. `in` must outlive the reader.
  PartReader(std::istream& in, std::string name, const FileKind& kind = kSnapshotFile);

  // REQUIRES: before any part.
  [[nodiscard]] Expected<void> ReadFirstLine();
  // Returns nullopt at the end of the file.
  [[nodiscard]] Expected<std::optional<Part>> Next();
  // Whether the last error was that the file ends in the middle of a part.
  [[nodiscard]] bool WasCutOff() const { return was_cut_off_; }

  // Returns the error "FILE: not a whole snapshot: WHAT (part N, at byte N); REMEDY".
  [[nodiscard]] Unexpected Broken(std::string_view what) const;

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  [[nodiscard]] bool Read(void* to, std::size_t bytes);
  [[nodiscard]] Unexpected CutOff();

  std::istream& in_;
  const FileKind& kind_;
  bool was_cut_off_ = false;
  std::string name_;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  std::string stored_;
  std::string plain_;
  std::uint32_t parts_read_ = 0;
  std::uint64_t part_begin_ = 0;  // in the file
  std::uint64_t position_ = 0;
};

// Writes the parts of a file, each compressed and with its checksum.
class PartWriter {
 public:
  // `out` must outlive the writer; its state shows whether everything could be written.
  explicit PartWriter(std::ostream& out, const FileKind& kind = kSnapshotFile);

  // REQUIRES: at most kMostPlainBytes.
  void Write(PartKind kind, std::string_view plain);
  // How many bytes have been written.
  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  std::ostream& out_;
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;
  std::string stored_;
  std::uint32_t number_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace leakgate::snapshot_format
