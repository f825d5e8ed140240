// A window as the region tells it: its name, its place, what it did to the heap.
#pragma once

#include <string>
#include <vector>

#include "runner/judge/judge_surroundings.h"
#include "runner/judge/window_evidence.h"
#include "runner/region/region_reader.h"
#include "runner/result/run_result.h"

namespace leakgate {

// A test's result as the region tells it.
[[nodiscard]] TestStatus StatusOf(const WindowCopy& window);

// Without findings, budget and verdict. A window that is still open ends now;
// the program's name is `binary_name`.
[[nodiscard]] WindowResult Describe(const WindowCopy& window, const RegionReader& region,
                                    const TestSources& sources, const std::string& binary_name);

// What a window has mapped and not unmapped, as evidence: each piece is told and allowed
// like a block.

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
