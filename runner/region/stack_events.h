// The events whose stacks are recorded, in words: `--stacks alloc,realloc,free`. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/stack_event.h"
#include "runner/base/expected.h"

namespace leakgate {

// The bits of a list with commas. A usage error names what is wrong, and the events there are.
[[nodiscard]] Expected<std::uint32_t> ParseStackEvents(std::string_view text);

// "alloc", "realloc", "free", in this order.
[[nodiscard]] std::vector<std::string> WordsOfStackEvents(std::uint32_t events);
// "alloc, realloc".
[[nodiscard]] std::string StackEventsText(std::uint32_t events);

// Of the words that there are; others are read over.
[[nodiscard]] std::uint32_t StackEventsFromWords(const std::vector<std::string>& words);

}  // namespace leakgate
