// Writes the records of a snapshot file or a recording. What is added is kept until it fills a
// part, so the memory that it takes does not grow with the file.
//
// REQUIRES: what a thing refers to is added before it: the caller and module of a frame, the stack,
// window and thread of a block. So a reader needs only one pass, and the process may make stacks
// and windows while its blocks are copied. One thread at a time.
#pragma once

#include <cstdint>

#include "runner/region/region_copies.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/records.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

class RecordWriter {
 public:
  // Writes to `out`, which must outlive the writer.
  RecordWriter(std::ostream& out, const snapshot_format::FileKind& kind) : parts_(out, kind) {}

  // REQUIRES: each id is added once, and all together take no more than kMostTextInAll.
  void Add(const SnapshotModule& module) { AddRecord(modules_, module); }
  void Add(const SnapshotWindow& window) { AddRecord(windows_, window); }
  void Add(const SnapshotThread& thread) { AddRecord(threads_, thread); }
  // Returns the id of the frame: they are consecutive, from kStackRootCount on.
  [[nodiscard]] std::uint32_t Add(const SnapshotNode& node);
  // REQUIRES: blocks are added by address, which is a multiple of 16.
  void Add(const LiveBlock& block);
  void Add(const SnapshotMapping& mapping);
  // REQUIRES: each stack is added once; all together are below 2^62 bytes and blocks.
  void Add(const SnapshotFrees& frees) { AddRecord(frees_, frees); }
  void Add(const SnapshotAllocations& allocations) { AddRecord(allocations_, allocations); }
  // These say how a window or a thread, which was added before, has ended.
  void AddEnd(const SnapshotWindow& window) { AddRecord(ended_windows_, window); }
  void AddEnd(const SnapshotThread& thread) { AddRecord(ended_threads_, thread); }
  // Returns false if the file has no room for one more.
  [[nodiscard]] bool AddMark(std::string_view name);

  // Writes a part of one record at once.
  template <typename Record>
  void WriteAlone(snapshot_format::PartKind kind, const Record& record) {
    record_.Clear();
    Encode(record, record_);
    parts_.Write(kind, record_.bytes());
  }

  // Writes what has been added; without FlushBlocks, all but blocks.
  void FlushAllButBlocks();
  void FlushBlocks();

  // Counts what has been added: blocks, bytes and mappings.
  [[nodiscard]] const SnapshotClosing& counts() const { return counts_; }
  [[nodiscard]] snapshot_format::PartWriter& parts() { return parts_; }

 private:
  // Records of one kind, or frames, that have not been written yet.
  struct Pending {
    snapshot_format::PartKind kind;
    snapshot_format::ByteWriter bytes;
  };

  void AddText(Pending& pending, std::string_view text);
  template <typename Record>
  void AddRecord(Pending& pending, const Record& record);
  void Flush(Pending& pending);

  snapshot_format::PartWriter parts_;
  Pending modules_{snapshot_format::PartKind::kModules, {}};
  Pending nodes_{snapshot_format::PartKind::kStacks, {}};
  Pending windows_{snapshot_format::PartKind::kWindows, {}};
  Pending threads_{snapshot_format::PartKind::kThreads, {}};
  Pending mappings_{snapshot_format::PartKind::kMappings, {}};
  Pending frees_{snapshot_format::PartKind::kFrees, {}};
  Pending allocations_{snapshot_format::PartKind::kAllocations, {}};
  Pending ended_windows_{snapshot_format::PartKind::kEndedWindows, {}};
  Pending ended_threads_{snapshot_format::PartKind::kEndedThreads, {}};
  Pending marks_{snapshot_format::PartKind::kMarks, {}};
  snapshot_format::BlockBatchWriter blocks_;
  snapshot_format::ByteWriter record_;
  snapshot_format::ByteWriter batch_;
  snapshot_format::TextRoom marks_room_;
  std::uint32_t next_node_ = kStackRootCount;
  std::uint64_t last_pc_ = 0;  // of the previous frame in the same part
  SnapshotClosing counts_;
};

}  // namespace leakgate
