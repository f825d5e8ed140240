// Turns records and live blocks of a snapshot file into bytes, and back. Internal to this folder.
//
// A record may have more fields than are read here: a later leakgate has added them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/region/region_copies.h"
#include "runner/snapshot/file/coding.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate::snapshot_format {

// REQUIRES, as of Decode: `Record` is SnapshotFacts, SnapshotClosing, SnapshotModule,
// SnapshotWindow, SnapshotThread, SnapshotMapping, SnapshotFrees,
// SnapshotAllocations, SnapshotPages, SnapshotSymbols or SnapshotSymbolProblem.
template <typename Record>
void Encode(const Record& record, ByteWriter& out);

// Returns false if the bytes are cut off, or hold a value that does not exist.
template <typename Record>
[[nodiscard]] bool Decode(ByteReader in, Record& record);

// Writes the live blocks of one part: some thousands, sorted by address, in columns. Similar values
// stand side by side, so that they compress well:
//
//   count | first granule | contexts: count, then window and thread of each
//   address       granules of 16 bytes from the previous block (0 for the first one)
//   size          bytes
//   stack         id
//   context       its number in this part, times 8, plus the kind
//
// Each column is written as a text: its length, then its numbers.
class BlockBatchWriter {
 public:
  // REQUIRES: the address is a multiple of 16, and higher than that of the previous block.
  void Add(const LiveBlock& block);

  std::uint32_t count() const { return count_; }

  // Writes the blocks that have been added since the last Take, as a part holds them.
  void Take(ByteWriter& out);

 private:
  std::uint64_t ContextOf(std::uint32_t window, std::uint32_t thread);

  std::uint32_t count_ = 0;
  std::uint64_t first_granule_ = 0;
  std::uint64_t last_granule_ = 0;
  std::uint64_t last_pair_ = 0;
  std::uint64_t last_context_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> contexts_;  // by window and thread
  ByteWriter pairs_;
  ByteWriter addresses_;
  ByteWriter sizes_;
  ByteWriter stacks_;
  ByteWriter contexts_and_kinds_;
};

// Reads the blocks of a part. Returns false if the part is damaged: `blocks` then has those
// before the damage.
[[nodiscard]] bool ReadBlockBatch(ByteReader in, std::vector<LiveBlock>& blocks);

}  // namespace leakgate::snapshot_format
