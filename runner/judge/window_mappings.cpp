#include "runner/judge/window_mappings.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "runner/process/memory_layout.h"

namespace leakgate {
namespace {

// Another thread's, or another thread: it may go any moment.
bool MayGo(const EvidenceRequest& request, const LiveBlock& piece) {
  if (piece.kind == AllocationKind::kThreadStack) return true;
  const ThreadCopy thread = request.region.Thread(piece.thread);
  return thread.tid != request.asking_tid && !thread.has_ended;
}

bool AnyMayGo(const EvidenceRequest& request, const WindowEvidence& pieces) {
  return std::any_of(pieces.blocks.begin(), pieces.blocks.end(),
                     [&](const LiveBlock& piece) { return MayGo(request, piece); });
}

MappedEvidence GatherOnce(const EvidenceRequest& request) {
  MappedEvidence mapped;
  for (const MappingCopy& mapping : request.region.Mappings()) {
    if (mapping.window != request.window) continue;
    if (IsReserved(mapping)) {
      mapped.reserved_bytes += static_cast<std::int64_t>(mapping.size_bytes);
      continue;
    }
    mapped.pieces.blocks.push_back({.address = mapping.address,
                                    .size_bytes = mapping.size_bytes,
                                    .kind = mapping.kind,
                                    .stack = mapping.stack,
                                    .window = mapping.window,
                                    .thread = mapping.thread,
                                    .allowance = mapping.allowance});
  }
  mapped.pieces.facts.resize(mapped.pieces.blocks.size());
  return mapped;
}

}  // namespace

MappedEvidence GatherMappings(const EvidenceRequest& request, Patience patience) {
  using std::chrono::microseconds;
  constexpr microseconds kLongestPause(51'200);
  MappedEvidence mapped = GatherOnce(request);
  if (request.asking_tid == 0 || patience == Patience::kNone) return mapped;
  for (microseconds pause(100); pause <= kLongestPause; pause *= 2) {
    if (!AnyMayGo(request, mapped.pieces)) break;
    std::this_thread::sleep_for(pause);
    mapped = GatherOnce(request);
  }
  return mapped;
}

std::vector<std::string> NameMappedFiles(int pid, const WindowEvidence& pieces) {
  const bool has_any =
      std::any_of(pieces.blocks.begin(), pieces.blocks.end(),
                  [](const LiveBlock& piece) { return piece.kind == AllocationKind::kMappedFile; });
  if (!has_any) return {};
  const Expected<std::vector<MappedRange>> maps = ReadMaps(pid);
  if (!maps) return {};
  std::vector<std::string> lines;
  for (const LiveBlock& piece : pieces.blocks) {
    if (piece.kind != AllocationKind::kMappedFile) continue;
    const MappedRange* const range = FindRange(*maps, piece.address);
    if (range == nullptr || !range->name.starts_with("/")) continue;
    lines.push_back(fmt::format("mapping of {} B: {}", piece.size_bytes, range->name));
  }
  return lines;
}

}  // namespace leakgate
