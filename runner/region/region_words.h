// The words for the enumerations of a region, in reports and messages alike. Reports depend on
// them: docs/leakgate-report-2.schema.json lists the same ones. A value that no enumerator has
// reads as the most cautious word.
#pragma once

#include <optional>
#include <string_view>

#include "common/allocation_kind.h"
#include "common/drop_reason.h"
#include "common/region_layout.h"
#include "common/unwind_end.h"

namespace leakgate {

[[nodiscard]] const char* Word(AllocationKind kind);    // "malloc", "new[]", ...
[[nodiscard]] const char* Word(UnwindEnd end);          // "outermost", "depth_limit", ...
[[nodiscard]] const char* Word(DropReason reason);      // "reentered", "map_full", ...
[[nodiscard]] const char* Word(BoundarySource source);  // "listener", "stream", "none"
[[nodiscard]] const char* Word(WindowKind kind);        // "test", "suite", "program", "process"

// Returns the enumerator that `word` stands for; nothing if there is no such word.
template <typename Enum>
[[nodiscard]] std::optional<Enum> FromWord(std::string_view word);

}  // namespace leakgate
