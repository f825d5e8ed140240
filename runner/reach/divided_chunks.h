// Divides chunks that pools have blocks in, so that no two blocks overlap: into those blocks, and
// pieces between them. Pieces are what the pool keeps for itself, and its free memory.
//
//   a chunk of malloc's   [ header  block  free  block ]
//   becomes               [ piece | block |piece| block ]
//
// A pool reaches its chunks in ways of its own, so a pointer into any part of a chunk leads to all
// of its pieces. To a block leads only a pointer into the block. A block that is the chunk of
// another pool is divided likewise. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runner/region/region_copies.h"

namespace leakgate {

class DividedChunks {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  DividedChunks() = default;

  // Adds the pieces of `chunks` to `blocks`. REQUIRES: both are sorted by address, an outer chunk
  // before an inner one; none of `blocks` has another one in it.
  DividedChunks(std::span<const LiveBlock> chunks, std::vector<LiveBlock>& blocks);

  [[nodiscard]] std::size_t size() const { return chunks_.size(); }
  [[nodiscard]] bool IsPiece(std::uint32_t block) const {
    return block < is_piece_.size() && is_piece_[block];
  }
  // Returns the elements of `values`, which has one for each block, but those of pieces.
  template <typename T>
  [[nodiscard]] std::vector<T> WithoutPieces(std::vector<T> values) const {
    if (chunks_.empty()) return values;
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      if (!IsPiece(i)) values[count++] = std::move(values[i]);
    }
    values.resize(count);
    return values;
  }
  // Returns the number of the block among those that are no pieces.
  [[nodiscard]] std::uint32_t NumberWithoutPieces(std::uint32_t block) const;

  // Returns the innermost chunk that has the block; kNone if none has.
  [[nodiscard]] std::uint32_t ChunkOf(std::uint32_t block) const {
    return block < chunk_of_.size() ? chunk_of_[block] : kNone;
  }
  // Returns the chunk that has the chunk; kNone if none has.
  [[nodiscard]] std::uint32_t ChunkAround(std::uint32_t chunk) const {
    return chunks_[chunk].around;
  }
  // The numbers of its pieces among the blocks.
  [[nodiscard]] std::span<const std::uint32_t> PiecesOf(std::uint32_t chunk) const {
    return chunks_[chunk].pieces;
  }

 private:
  struct Chunk {
    std::uint32_t around = kNone;
    std::vector<std::uint32_t> pieces{};
  };

  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> chunk_of_;       // by block
  std::vector<bool> is_piece_;                // likewise
  std::vector<std::uint32_t> piece_numbers_;  // all of them, sorted
};

}  // namespace leakgate
