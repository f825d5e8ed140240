// Reads from the region what a window is, what it did to the heap, and what it has mapped.
#pragma once

#include <string>
#include <vector>

#include "runner/judge/judge_surroundings.h"
#include "runner/judge/window_evidence.h"
#include "runner/region/region_reader.h"
#include "runner/result/run_result.h"

namespace leakgate {

// Returns a test's result as the region has it.
[[nodiscard]] TestStatus TestStatusOf(const WindowCopy& window);

// Returns the file that defines the window's test; empty if it is not known.
[[nodiscard]] std::string SourceFileOf(const WindowCopy& window, const TestSources& sources);

// Makes the window's result without findings, budget and verdict. A window that is still open ends
// now. The program's window is called `binary_name`.
[[nodiscard]] WindowResult MakeWindowResult(const WindowCopy& window, const RegionReader& region,
                                            const TestSources& sources,
                                            const std::string& binary_name);

// Whether to give other threads a moment to unmap what they have, or to end. They get one where a
// verdict depends on it.
enum class Patience { kNone, kShort };

// What a window has mapped and not unmapped. Each piece is reported and allowed like a block.
struct MappedEvidence {
  WindowEvidence pieces;            // committed; a piece's kind is one of a mapping
  std::int64_t reserved_bytes = 0;  // by mmap of PROT_NONE, and nothing since
};

[[nodiscard]] MappedEvidence GatherMappings(const EvidenceRequest& request, Patience patience);

// Returns "mapping of 4096 B: /tmp/db" for each piece that maps a file and is still there.
[[nodiscard]] std::vector<std::string> NameMappedFiles(int pid, const WindowEvidence& pieces);

}  // namespace leakgate
