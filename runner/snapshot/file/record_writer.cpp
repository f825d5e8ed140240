#include "runner/snapshot/file/record_writer.h"

namespace leakgate {
namespace {

// It leaves enough room in a part for the largest record.
constexpr std::size_t kFullBytes = 1U << 20;

}  // namespace

void RecordWriter::AddText(Pending& pending, std::string_view text) {
  pending.bytes.Text(text);
  if (pending.bytes.size() >= kFullBytes) FlushAllButBlocks();
}

template <typename Record>
void RecordWriter::AddRecord(Pending& pending, const Record& record) {
  record_.Clear();
  Encode(record, record_);
  AddText(pending, record_.bytes());
}

template void RecordWriter::AddRecord(Pending&, const SnapshotModule&);
template void RecordWriter::AddRecord(Pending&, const SnapshotWindow&);
template void RecordWriter::AddRecord(Pending&, const SnapshotThread&);
template void RecordWriter::AddRecord(Pending&, const SnapshotFrees&);
template void RecordWriter::AddRecord(Pending&, const SnapshotAllocations&);

std::uint32_t RecordWriter::Add(const SnapshotNode& node) {
  const std::uint32_t id = next_node_++;
  if (nodes_.bytes.size() == 0) last_pc_ = 0;  // each part is read on its own
  nodes_.bytes.Number(id - node.parent);
  nodes_.bytes.Number(node.module);
  nodes_.bytes.Signed(static_cast<std::int64_t>(node.pc - last_pc_));
  last_pc_ = node.pc;
  if (nodes_.bytes.size() >= kFullBytes) FlushAllButBlocks();
  return id;
}

void RecordWriter::Add(const LiveBlock& block) {
  blocks_.Add(block);
  ++counts_.blocks;
  counts_.bytes += block.size_bytes;
  if (blocks_.count() == snapshot_format::kMostBlocksPerPart) FlushBlocks();
}

void RecordWriter::Add(const SnapshotMapping& mapping) {
  ++counts_.mappings;
  AddRecord(mappings_, mapping);
}

bool RecordWriter::AddMark(std::string_view name) {
  const bool has_room = marks_room_.Take(name.size() + snapshot_format::kMarkBytesBesidesName);
  if (has_room) AddText(marks_, name);
  return has_room;
}

void RecordWriter::Flush(Pending& pending) {
  if (pending.bytes.size() == 0) return;
  parts_.Write(pending.kind, pending.bytes.bytes());
  pending.bytes.Clear();
}

// The order matters: what a thing refers to comes before it.
void RecordWriter::FlushAllButBlocks() {
  for (Pending* pending : {&modules_, &nodes_, &windows_, &threads_, &mappings_, &frees_,
                           &allocations_, &ended_windows_, &ended_threads_, &marks_}) {
    Flush(*pending);
  }
}

void RecordWriter::FlushBlocks() {
  FlushAllButBlocks();
  if (blocks_.count() == 0) return;
  batch_.Clear();
  blocks_.Take(batch_);
  parts_.Write(snapshot_format::PartKind::kBlocks, batch_.bytes());
}

}  // namespace leakgate
