// Writes a snapshot file in one pass, in memory that does not grow with the blocks:
// what is added is kept until it fills a part.
//
// Whatever something refers to has been added before it: a frame's caller and module, a
// block's stack, window and thread. So a reader needs one pass, too, and the process may
// go on making stacks and windows while its blocks are copied.
//
// One thread. Used by WriteSnapshot; by tests for files of their own making.
#pragma once

#include <filesystem>
#include <optional>

#include "runner/base/atomic_file.h"
#include "runner/region/live_block.h"
#include "runner/snapshot/file/block_batch.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

class SnapshotWriter {
 public:
  // The file is there, and readable by its owner alone, once Finish has put it in place.
  [[nodiscard]] static Expected<SnapshotWriter> Create(const std::filesystem::path& path,
                                                       const SnapshotFacts& facts);
  // To `out`, which outlives it.
  SnapshotWriter(std::ostream& out, const SnapshotFacts& facts);

  // REQUIRES: each id once.
  void Add(const SnapshotModule& module);
  void Add(const SnapshotWindow& window);
  void Add(const SnapshotThread& thread);
  // Returns the frame's id: the next one from kStackRootCount on.
  [[nodiscard]] std::uint32_t Add(const SnapshotNode& node);
  // REQUIRES: by address, which is a multiple of 16.
  void Add(const LiveBlock& block);
  void Add(const SnapshotMapping& mapping);
  // REQUIRES: each stack once; all together below 2^62 bytes and blocks.
  void Add(const SnapshotFrees& frees);

  // `closing` without its counts of what is in the file; returns it with them.
  [[nodiscard]] Expected<SnapshotClosing> Finish(SnapshotClosing closing);

 private:
  // Records of one kind, or frames, that are to be written.
  struct Pending {
    snapshot_format::PartKind kind;
    snapshot_format::ByteWriter bytes;
  };

  template <typename Record>
  void AddRecord(Pending& pending, const Record& record);
  void Flush(Pending& pending);
  void FlushAllButBlocks();
  void FlushBlocks();

  std::optional<AtomicFile> file_;
  snapshot_format::PartWriter parts_;
  Pending modules_{snapshot_format::PartKind::kModules, {}};
  Pending nodes_{snapshot_format::PartKind::kStacks, {}};
  Pending windows_{snapshot_format::PartKind::kWindows, {}};
  Pending threads_{snapshot_format::PartKind::kThreads, {}};
  Pending mappings_{snapshot_format::PartKind::kMappings, {}};
  Pending frees_{snapshot_format::PartKind::kFrees, {}};
  snapshot_format::BlockBatchWriter blocks_;
  snapshot_format::ByteWriter record_;
  snapshot_format::ByteWriter batch_;
  std::uint32_t next_node_ = kStackRootCount;
  std::uint64_t last_pc_ = 0;  // of the frame before in the same part
  SnapshotClosing counts_;     // of what has been added
};

}  // namespace leakgate
