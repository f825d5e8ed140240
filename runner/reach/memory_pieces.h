// Words of a process's memory, read in pieces as they are asked for. Pieces are kept, so that a
// heap of many blocks is read once; of a block of gigabytes, no copy is kept. Of one who asks by
// address, nothing is kept.
//
//   pieces    |........|........|........|........|
//   asked for      [==========================)        kept: the first and the last
//                           `--------`-- whole: kept only until the next call
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

namespace leakgate {

class MemoryPieces {
 public:
  static constexpr std::uint64_t kBytes = 1U << 18;  // of a piece
  enum class Kept { kAll, kLast };

  explicit MemoryPieces(Kept kept = Kept::kAll) : keeps_all_(kept == Kept::kAll) {}

  // Returns the first words of [begin, end), at least one, until the next call. Calls
  // `read(begin, words)` for a piece that is not known, where `words` are those of the whole piece.
  // REQUIRES: `begin` is a multiple of 8 and less than `end`.
  template <typename Read>
  std::span<const std::uint64_t> At(std::uint64_t begin, std::uint64_t end, const Read& read) {
    const std::uint64_t piece = begin & ~(kBytes - 1);
    const bool is_whole = !keeps_all_ || (begin == piece && end - begin >= kBytes);
    const bool is_last = last_ != nullptr && last_begin_ == piece;
    if (is_whole ? !is_last || last_ != read_through_.get() : !is_last) {
      last_ = is_whole ? ReadThrough(piece, read) : Keep(piece, read);
      last_begin_ = piece;
    }
    const std::uint64_t bytes = std::min(end, piece + kBytes) - begin;
    return {last_ + (begin - piece) / kWordBytes,
            static_cast<std::size_t>(std::max(bytes / kWordBytes, std::uint64_t{1}))};
  }

 private:
  static constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
  static constexpr std::size_t kWords = kBytes / kWordBytes;
  using Piece = std::unique_ptr<std::uint64_t[]>;

  template <typename Read>
  static Piece ReadInto(Piece piece, std::uint64_t begin, const Read& read) {
    if (piece == nullptr) piece = std::make_unique_for_overwrite<std::uint64_t[]>(kWords);
    read(begin, std::span(piece.get(), kWords));
    return piece;
  }

  template <typename Read>
  const std::uint64_t* Keep(std::uint64_t begin, const Read& read) {
    Piece& piece = kept_[begin];
    if (piece == nullptr) piece = ReadInto(std::move(spare_), begin, read);
    return piece.get();
  }

  template <typename Read>
  const std::uint64_t* ReadThrough(std::uint64_t begin, const Read& read) {
    const auto kept = kept_.find(begin);
    if (kept == kept_.end()) {
      read_through_ = ReadInto(std::move(read_through_), begin, read);
    } else {
      spare_ = std::exchange(read_through_, std::move(kept->second));
      kept_.erase(kept);
    }
    return read_through_.get();
  }

  bool keeps_all_;
  std::unordered_map<std::uint64_t, Piece> kept_;  // by the begin
  Piece read_through_;                             // the last one that was whole
  Piece spare_;
  std::uint64_t last_begin_ = 0;  // of the piece that was returned last
  const std::uint64_t* last_ = nullptr;
};

}  // namespace leakgate
