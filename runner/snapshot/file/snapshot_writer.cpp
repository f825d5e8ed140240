#include "runner/snapshot/file/snapshot_writer.h"

#include <utility>

#include "runner/snapshot/file/records.h"

namespace leakgate {
namespace {

using snapshot_format::ByteWriter;
using snapshot_format::PartKind;

// It leaves enough room in a part for the largest record.
constexpr std::size_t kFullBytes = 1U << 20;

}  // namespace

SnapshotWriter::SnapshotWriter(std::ostream& out, const SnapshotFacts& facts) : parts_(out) {
  ByteWriter record;
  Encode(facts, record);
  parts_.Write(PartKind::kFacts, record.bytes());
}

Expected<SnapshotWriter> SnapshotWriter::Create(const std::filesystem::path& path,
                                                const SnapshotFacts& facts) {
  Expected<AtomicFile> file = AtomicFile::Create(path, AtomicFile::Content::kSnapshot);
  if (!file) return Unexpected(file.error());
  SnapshotWriter writer(file->out(), facts);
  writer.file_.emplace(*std::move(file));
  return writer;
}

template <typename Record>
void SnapshotWriter::AddRecord(Pending& pending, const Record& record) {
  record_.Clear();
  Encode(record, record_);
  pending.bytes.Text(record_.bytes());
  if (pending.bytes.size() >= kFullBytes) FlushAllButBlocks();
}

void SnapshotWriter::Add(const SnapshotModule& module) { AddRecord(modules_, module); }
void SnapshotWriter::Add(const SnapshotWindow& window) { AddRecord(windows_, window); }
void SnapshotWriter::Add(const SnapshotThread& thread) { AddRecord(threads_, thread); }

std::uint32_t SnapshotWriter::Add(const SnapshotNode& node) {
  const std::uint32_t id = next_node_++;
  if (nodes_.bytes.size() == 0) last_pc_ = 0;  // each part is read on its own
  nodes_.bytes.Number(id - node.parent);
  nodes_.bytes.Number(node.module);
  nodes_.bytes.Signed(static_cast<std::int64_t>(node.pc - last_pc_));
  last_pc_ = node.pc;
  if (nodes_.bytes.size() >= kFullBytes) FlushAllButBlocks();
  return id;
}

void SnapshotWriter::Add(const LiveBlock& block) {
  blocks_.Add(block);
  ++counts_.blocks;
  counts_.bytes += block.size_bytes;
  if (blocks_.count() == snapshot_format::kMostBlocksPerPart) FlushBlocks();
}

void SnapshotWriter::Add(const SnapshotMapping& mapping) {
  ++counts_.mappings;
  AddRecord(mappings_, mapping);
}

void SnapshotWriter::Add(const SnapshotFrees& frees) { AddRecord(frees_, frees); }

void SnapshotWriter::Flush(Pending& pending) {
  if (pending.bytes.size() == 0) return;
  parts_.Write(pending.kind, pending.bytes.bytes());
  pending.bytes.Clear();
}

// The order matters: what a thing refers to comes before it.
void SnapshotWriter::FlushAllButBlocks() {
  for (Pending* pending : {&modules_, &nodes_, &windows_, &threads_, &mappings_, &frees_}) {
    Flush(*pending);
  }
}

void SnapshotWriter::FlushBlocks() {
  FlushAllButBlocks();
  if (blocks_.count() == 0) return;
  batch_.Clear();
  blocks_.Take(batch_);
  parts_.Write(PartKind::kBlocks, batch_.bytes());
}

Expected<SnapshotClosing> SnapshotWriter::Finish(SnapshotClosing closing) {
  FlushBlocks();
  closing.blocks = counts_.blocks;
  closing.bytes = counts_.bytes;
  closing.mappings = counts_.mappings;
  record_.Clear();
  Encode(closing, record_);
  parts_.Write(PartKind::kClosing, record_.bytes());
  if (!file_) return closing;
  const Expected<void> committed = file_->Commit();
  if (!committed) return Unexpected(committed.error());
  return closing;
}

}  // namespace leakgate
