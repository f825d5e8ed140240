// The options of all commands that record: how large the buffers are through which events pass, how
// many there are, and what happens when all are full.
#pragma once

#include <cstdint>
#include <optional>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/region/event_buffers.h"

namespace leakgate {

struct GivenBuffers {
  std::optional<std::uint32_t> bytes;
  std::optional<std::uint32_t> count;
  std::optional<WhenFull> when_full;

  bool AreGiven() const { return bytes || count || when_full; }
};

void DeclareBuffers(GivenBuffers& buffers, OptionList& options);

// Returns what is asked for, without a clock. A usage error tells that the buffers are too large
// together.
[[nodiscard]] Expected<EventRequest> BuffersOf(const GivenBuffers& given, WhenFull otherwise);

}  // namespace leakgate
