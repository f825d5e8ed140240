// Writes a snapshot file in one pass. What is added is kept until it fills a part, so the memory
// that it takes does not grow with the number of blocks.
//
// REQUIRES: what a thing refers to is added before it: the caller and module of a frame, the
// stack, window and thread of a block. So a reader needs only one pass, and the process may make
// stacks and windows while its blocks are copied.
//
// One thread at a time. WriteSnapshot uses it, and tests that need files of a certain content.
#pragma once

#include <filesystem>
#include <optional>

#include "runner/base/atomic_file.h"
#include "runner/region/region_copies.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/records.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

class SnapshotWriter {
 public:
  // Finish puts the file in its place; only its owner can read it.
  [[nodiscard]] static Expected<SnapshotWriter> Create(const std::filesystem::path& path,
                                                       const SnapshotFacts& facts);
  // Writes to `out`, which must outlive the writer.
  SnapshotWriter(std::ostream& out, const SnapshotFacts& facts);

  // REQUIRES: each id is added once.
  void Add(const SnapshotModule& module);
  void Add(const SnapshotWindow& window);
  void Add(const SnapshotThread& thread);
  // Returns the id of the frame: they are consecutive, from kStackRootCount on.
  [[nodiscard]] std::uint32_t Add(const SnapshotNode& node);
  // REQUIRES: blocks are added by address, which is a multiple of 16.
  void Add(const LiveBlock& block);
  void Add(const SnapshotMapping& mapping);
  // REQUIRES: each stack is added once; all together are below 2^62 bytes and blocks.
  void Add(const SnapshotFrees& frees);

  // Writes the end of the file. Returns `closing` with the counts of what is in the file, which
  // the caller leaves out.
  [[nodiscard]] Expected<SnapshotClosing> Finish(SnapshotClosing closing);

 private:
  // Records of one kind, or frames, that have not been written yet.
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
  std::uint64_t last_pc_ = 0;  // of the previous frame in the same part
  SnapshotClosing counts_;     // counts what has been added
};

}  // namespace leakgate
