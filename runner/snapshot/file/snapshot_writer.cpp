#include "runner/snapshot/file/snapshot_writer.h"

#include <utility>

namespace leakgate {

using snapshot_format::PartKind;

SnapshotWriter::SnapshotWriter(std::ostream& out, const SnapshotFacts& facts)
    : records_(out, snapshot_format::kSnapshotFile) {
  records_.WriteAlone(PartKind::kFacts, facts);
}

Expected<SnapshotWriter> SnapshotWriter::Create(const std::filesystem::path& path,
                                                const SnapshotFacts& facts) {
  LEAKGATE_TRY_ASSIGN(AtomicFile file, AtomicFile::Create(path, AtomicFile::Content::kSnapshot));
  SnapshotWriter writer(file.out(), facts);
  writer.file_.emplace(std::move(file));
  return writer;
}

Expected<SnapshotClosing> SnapshotWriter::Finish(SnapshotClosing closing) {
  records_.FlushBlocks();
  closing.blocks = records_.counts().blocks;
  closing.bytes = records_.counts().bytes;
  closing.mappings = records_.counts().mappings;
  records_.WriteAlone(PartKind::kClosing, closing);
  if (!file_) return closing;
  LEAKGATE_TRY(file_->Commit());
  return closing;
}

}  // namespace leakgate
