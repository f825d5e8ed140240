// Writes a snapshot in the format of heaptrack's recordings. It looks as if the process had
// allocated the live blocks one after the other, and nothing else.
#include "runner/snapshot/view/export_snapshot.h"
#include "runner/snapshot/view/heaptrack_writer.h"

namespace leakgate {
namespace {

std::uint64_t MillisecondsTraced(const SnapshotFacts& facts) {
  const bool is_known = facts.tracing_begin_ns != 0 && facts.taken_ns > facts.tracing_begin_ns;
  return is_known ? (facts.taken_ns - facts.tracing_begin_ns) / 1'000'000 : 0;
}

}  // namespace

Expected<void> WriteHeaptrack(SnapshotView& view, std::ostream& out) {
  HeaptrackWriter writer(view.contents(), view.frames(), out);
  writer.Begin();
  const Expected<void> read = view.ReadBlocks([&](std::span<const LiveBlock> blocks) {
    for (const LiveBlock& block : blocks) {
      if (view.Matches(block.stack)) writer.Allocate(block.size_bytes, block.stack);
    }
    return Expected<void>();
  });
  if (!read) return read;
  writer.Time(MillisecondsTraced(view.contents().facts));
  return {};
}

}  // namespace leakgate
