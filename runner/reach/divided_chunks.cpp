#include "runner/reach/divided_chunks.h"

#include <algorithm>
#include <utility>

namespace leakgate {

DividedChunks::DividedChunks(std::span<const LiveBlock> chunks, std::vector<LiveBlock>& blocks)
    : chunks_(chunks.size()) {
  if (chunks.empty()) return;
  struct Open {
    std::uint32_t chunk;
    std::uint64_t end;
  };
  std::vector<LiveBlock> divided;
  divided.reserve(blocks.size() + 2 * chunks.size());
  std::vector<Open> open;           // the innermost last
  std::uint64_t divided_until = 0;  // in the innermost
  const auto add = [&](const LiveBlock& block, std::uint32_t chunk, bool is_piece) {
    divided.push_back(block);
    chunk_of_.push_back(chunk);
    is_piece_.push_back(is_piece);
  };
  const auto add_pieces_before = [&](std::uint64_t address) {
    while (!open.empty()) {
      const auto [chunk, chunk_end] = open.back();
      const std::uint64_t end = std::min(chunk_end, address);
      if (divided_until < end) {
        chunks_[chunk].pieces.push_back(static_cast<std::uint32_t>(divided.size()));
        piece_numbers_.push_back(chunks_[chunk].pieces.back());
        LiveBlock piece = chunks[chunk];
        piece.address = divided_until;
        piece.size_bytes = end - divided_until;
        add(piece, chunk, true);
        divided_until = end;
      }
      if (chunk_end > address) return;
      open.pop_back();
    }
  };
  std::uint32_t next = 0;  // of the chunks
  const auto open_chunks_until = [&](std::uint64_t address) {
    for (; next < chunks.size() && chunks[next].address <= address; ++next) {
      add_pieces_before(chunks[next].address);
      std::uint64_t end = chunks[next].address + chunks[next].size_bytes;
      if (!open.empty()) {
        end = std::min(end, open.back().end);
        chunks_[next].around = open.back().chunk;
      }
      divided_until = std::max(divided_until, chunks[next].address);
      open.push_back({next, end});
    }
  };
  for (const LiveBlock& block : blocks) {
    open_chunks_until(block.address);
    add_pieces_before(block.address);
    add(block, open.empty() ? kNone : open.back().chunk, false);
    divided_until = std::max(divided_until, block.address + block.size_bytes);
  }
  constexpr std::uint64_t kEnd = ~std::uint64_t{0};
  open_chunks_until(kEnd);
  add_pieces_before(kEnd);
  blocks = std::move(divided);
}

std::uint32_t DividedChunks::NumberWithoutPieces(std::uint32_t block) const {
  const auto before = std::lower_bound(piece_numbers_.begin(), piece_numbers_.end(), block);
  return block - static_cast<std::uint32_t>(before - piece_numbers_.begin());
}

}  // namespace leakgate
