// What a window has mapped and not unmapped, as evidence: each piece is told and allowed
// like a block.
#pragma once

#include <string>
#include <vector>

#include "runner/judge/window_evidence.h"

namespace leakgate {

// Whether something hangs on it: then another thread that may be about to unmap what it
// has, or to end, is given a moment, as for blocks.
enum class Patience { kNone, kShort };

struct MappedEvidence {
  WindowEvidence pieces;            // committed; a piece's kind is one of a mapping
  std::int64_t reserved_bytes = 0;  // by mmap of PROT_NONE, and nothing since
};

[[nodiscard]] MappedEvidence GatherMappings(const EvidenceRequest& request, Patience patience);

// "mapping of 4096 B: /tmp/db", for the pieces that are of a file and still there.
[[nodiscard]] std::vector<std::string> NameMappedFiles(int pid, const WindowEvidence& pieces);

}  // namespace leakgate
