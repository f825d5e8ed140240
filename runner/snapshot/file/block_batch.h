// Live blocks as a part of a snapshot file has them: some thousands, by address, in columns.
// Alike values stand side by side, so the columns are short and pack well:
//
//   count | first granule | contexts: count, then window and thread of each
//   address       granules of 16 bytes from the block before (of the first one: 0)
//   size          bytes
//   stack         id
//   context       its number in this part, times 8, plus the kind
//
// Each column is written as a text: its length, then its numbers. Internal to this folder.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/region/live_block.h"
#include "runner/snapshot/file/coding.h"

namespace leakgate::snapshot_format {

class BlockBatchWriter {
 public:
  // REQUIRES: the address is a multiple of 16, and above that of the block before.
  void Add(const LiveBlock& block);

  std::uint32_t count() const { return count_; }

  // What has been added since the last Take, as a part holds it.
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

// The blocks of a part. False if it is broken: `blocks` is then what came before.
[[nodiscard]] bool ReadBlockBatch(ByteReader in, std::vector<LiveBlock>& blocks);

}  // namespace leakgate::snapshot_format
