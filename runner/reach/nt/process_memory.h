// The memory of a process that does not run meanwhile: which ranges it has, and their words. No
// function fails: what cannot be read is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runner/reach/address_range.h"
#include "runner/reach/memory_pieces.h"

namespace leakgate {

enum class MemoryKind { kImage, kPrivate, kMapped };

// Committed pages of the same kind and protection, which belong to one allocation.
struct MemoryRange {
  AddressRange range;
  std::uint64_t allocation = 0;  // where it begins; of an image, its module's begin
  MemoryKind kind = MemoryKind::kPrivate;
  bool is_readable = false;  // false: without access, or guarded
  bool is_writable = false;
  bool is_guard = false;  // the system makes it accessible when it is touched
  // It is a view of a file of Windows' own, such as tables of a locale, which nobody writes.
  bool is_system_file = false;
};

// A program or library as it is mapped.
struct ImageModule {
  AddressRange range;
  std::string path;
  std::vector<AddressRange> data;  // its sections that were made to be written
};

class ProcessMemory;

// The first page of an image, for those functions of common/pe_identity.h that read headers.
class ImageHeaders {
 public:
  ImageHeaders(const ProcessMemory& memory, std::uint64_t image);
  // Returns nullptr if the page has not all of these bytes.
  const std::uint8_t* operator()(std::uint32_t at, std::uint32_t size) const {
    return at <= count_ && count_ - at >= size ? &bytes_[at] : nullptr;
  }

 private:
  std::uint8_t bytes_[4096];
  std::uint64_t count_;
};

class ProcessMemory {
 public:
  using Words = std::span<const std::uint64_t>;

  // `process` is a HANDLE that must outlive the object.
  explicit ProcessMemory(void* process) : process_(process) {}

  // Returns the committed ranges, by address.
  [[nodiscard]] std::vector<MemoryRange> List() const;
  // Returns the modules, by address.
  [[nodiscard]] std::vector<ImageModule> ListModules(const std::vector<MemoryRange>& ranges) const;

  // Copies the range to `to`, up to the first byte that cannot be read. Returns how many bytes it
  // has copied.
  std::uint64_t Read(AddressRange range, void* to) const;

  // Calls `use(address, words)` for the words of `range`, in order. The words are aligned, and lie
  // in the range as a whole. Nothing is kept.
  void ForEachPart(AddressRange range, const std::function<void(std::uint64_t, Words)>& use) const;

  // Returns the first words of [begin, end), at least one; what cannot be read is zero. Memory is
  // read and kept in pieces, so that a heap of many blocks is read once; a piece that lies within
  // [begin, end) as a whole is kept only until the next call. REQUIRES: `begin` is a multiple of 8
  // and less than `end`.
  Words At(std::uint64_t begin, std::uint64_t end);
  // The same where one asks by address, at least mostly: only the last piece is kept.
  Words InOrder(std::uint64_t begin, std::uint64_t end);

 private:
  Words InPieces(MemoryPieces& pieces, std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] std::vector<AddressRange> DataOf(std::uint64_t image) const;

  void* process_;
  MemoryPieces pieces_;
  MemoryPieces last_piece_{MemoryPieces::Kept::kLast};
};

}  // namespace leakgate
