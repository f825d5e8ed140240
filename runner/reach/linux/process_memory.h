// Reads the memory of a process that does not run meanwhile. It leaves out pages that were never
// written, because reading would make the kernel fill them in.
//
// No function fails: what cannot be read is left out. Used by the thread that froze the process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/reach/address_range.h"
#include "runner/reach/memory_pieces.h"

namespace leakgate {

// Pages that a range has.
struct PresentPart {
  AddressRange range;
  // Whether they are pages of the file that is mapped, which nobody has written through a private
  // mapping. False if the kernel does not tell.
  bool is_file = false;
};

class ProcessMemory {
 public:
  using Words = std::span<const std::uint64_t>;

  explicit ProcessMemory(int pid);

  // From now on, what is there reads as zero, in whole words. Called before anything is read.
  void ReadAsZero(std::vector<AddressRange> ranges) { zero_ = JoinRanges(std::move(ranges)); }

  // Asks which pages all of `ranges` have, and reads those that are wanted at once, as far as there
  // is room for them. The functions below need not ask the kernel about them again.
  enum class Wanted { kAllPages, kAllButFiles };
  void Load(const std::vector<AddressRange>& ranges, Wanted wanted);

  // Copies the range to `to`, from its begin to the first byte that cannot be read. Returns how
  // many bytes it has copied.
  std::uint64_t Read(AddressRange range, void* to) const;

  // Calls `use(part)` for the parts of `range` that have pages, in order.
  void ForEachPresent(AddressRange range, const std::function<void(AddressRange)>& use) const;

  // Returns the parts of `range` that have pages, in order.
  [[nodiscard]] std::vector<PresentPart> PartsIn(AddressRange range) const;

  // Returns whether the kernel passes over ranges without pages. One before Linux 6.7 tells of each
  // page, which takes about a second for each TiB.
  [[nodiscard]] bool PassesOverHoles() const { return passes_over_holes_; }

  // Calls `use(address, words)` for the parts of `range` that have pages, in order. The words are
  // aligned, and lie in the range as a whole. Nothing is kept.
  void ForEachPart(AddressRange range, const std::function<void(std::uint64_t, Words)>& use) const;

  // Returns the first words of [begin, end), at least one; what cannot be read is zero. Memory is
  // read and kept in pieces, so that a heap of many blocks is read once; a piece that lies within
  // [begin, end) as a whole is kept only until the next call. REQUIRES: `begin` is a multiple of 8
  // and less than `end`.
  Words At(std::uint64_t begin, std::uint64_t end);
  // The same where one asks by address, at least mostly: only the last piece is kept.
  Words InOrder(std::uint64_t begin, std::uint64_t end);

  // Returns the words at `addresses`, 0 for those that cannot be read: for words that are far from
  // each other, where At would read all that is between them.
  [[nodiscard]] std::vector<std::uint64_t> ReadEach(const std::vector<std::uint64_t>& addresses);

 private:
  using Piece = std::unique_ptr<std::uint64_t[]>;

  // Words that Load() has read.
  struct Loaded {
    std::uint64_t end = 0;
    const std::uint64_t* words = nullptr;
  };

  Words InPieces(MemoryPieces& pieces, std::uint64_t begin, std::uint64_t end) const;
  void ReadPiece(std::uint64_t begin, std::span<std::uint64_t> words) const;
  // Asks the kernel for the pages of a range at once. Returns false if it has no such call.
  bool ScanInto(AddressRange range, std::vector<PresentPart>& present) const;
  // As PartsIn, but asks the kernel in any case.
  [[nodiscard]] std::vector<PresentPart> AskForParts(AddressRange range) const;
  [[nodiscard]] std::vector<AddressRange> PresentIn(AddressRange range) const;
  // Notes which pages there are. REQUIRES: `ranges` are joined.
  void NoteParts(const std::vector<AddressRange>& ranges);
  void ReadLoaded(const std::vector<AddressRange>& parts);
  // Returns the loaded words from `begin` on; none if there are none.
  [[nodiscard]] Words LoadedAt(std::uint64_t begin) const;
  std::uint64_t ReadByFile(AddressRange range, void* to) const;
  // Clears those of `bytes`, which have been read from `begin` on, that are to read as zero.
  void Clear(std::uint64_t begin, std::span<std::byte> bytes) const;

  int pid_;
  UniqueFd memory_;
  UniqueFd pages_;
  bool passes_over_holes_ = false;
  std::vector<AddressRange> zero_;                    // joined
  std::vector<AddressRange> noted_;                   // whose pages are known; joined
  std::map<std::uint64_t, PresentPart> noted_parts_;  // the pages there, by begin
  std::map<std::uint64_t, Loaded> loaded_;            // by begin
  std::vector<Piece> load_buffers_;
  std::uint64_t loaded_bytes_ = 0;
  MemoryPieces pieces_;
  MemoryPieces last_piece_{MemoryPieces::Kept::kLast};
};

}  // namespace leakgate
