// The events whose stacks are recorded, and their names, as in `--stacks alloc,realloc,free`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/stack_event.h"
#include "runner/base/expected.h"

namespace leakgate {

// Parses names separated by commas into the bits of common/stack_event.h. Fails with a usage error
// that tells what is wrong, and which names there are.
[[nodiscard]] Expected<std::uint32_t> ParseStackEvents(std::string_view text);

// The names of the events in `events`: "alloc", "realloc", "free", in this order.
[[nodiscard]] std::vector<std::string> StackEventNames(std::uint32_t events);
// The same in one text, such as "alloc, realloc".
[[nodiscard]] std::string StackEventsText(std::uint32_t events);

// The reverse of StackEventNames. Ignores unknown names.
[[nodiscard]] std::uint32_t StackEventsFromNames(const std::vector<std::string>& names);

}  // namespace leakgate
