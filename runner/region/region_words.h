// The words for the enumerations of a region, in reports and messages alike. Reports depend on
// them: docs/leakgate-report-2.schema.json lists the same ones. A value that no enumerator has
// reads as the most cautious word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/allocation_kind.h"
#include "common/drop_reason.h"
#include "common/region_layout.h"
#include "common/stack_event.h"
#include "common/unwind_end.h"
#include "runner/base/expected.h"

namespace leakgate {

[[nodiscard]] const char* Word(AllocationKind kind);    // "malloc", "new[]", ...
[[nodiscard]] const char* Word(UnwindEnd end);          // "outermost", "depth_limit", ...
[[nodiscard]] const char* Word(DropReason reason);      // "reentered", "map_full", ...
[[nodiscard]] const char* Word(BoundarySource source);  // "listener", "stream", "none"
[[nodiscard]] const char* Word(WindowKind kind);        // "test", "suite", "program", "process"

// Returns the enumerator that `word` stands for; nothing if there is no such word.
template <typename Enum>
[[nodiscard]] std::optional<Enum> FromWord(std::string_view word);

// The events whose stacks are recorded are bits of common/stack_event.h, and have names, as in
// `--stacks alloc,realloc,free`.

// Parses names separated by commas into the bits. Fails with a usage error
// that tells what is wrong, and which names there are.
[[nodiscard]] Expected<std::uint32_t> ParseStackEvents(std::string_view text);

// The names of the events in `events`: "alloc", "realloc", "free", in this order.
[[nodiscard]] std::vector<std::string> StackEventNames(std::uint32_t events);
// The same in one text, such as "alloc, realloc".
[[nodiscard]] std::string StackEventsText(std::uint32_t events);

// The reverse of StackEventNames. Ignores unknown names.
[[nodiscard]] std::uint32_t StackEventsFromNames(const std::vector<std::string>& names);

}  // namespace leakgate
