// A recorded stack with its functions and lines.
#pragma once

#include <iterator>
#include <utility>

#include "runner/attribution/call_sites.h"
#include "runner/region/region_reader.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

[[nodiscard]] inline ResolvedStack SymboliseStack(const RegionReader& region, std::uint32_t stack,
                                                  Symbolizer& symbolizer) {
  const RawStack raw = region.Stack(stack);
  ResolvedStack resolved{{}, raw.end};
  for (const RawStack::Frame& frame : raw.frames) {
    auto frames = symbolizer.Symbolize(region.ModuleOf(frame.module), frame.pc);
    std::move(frames.begin(), frames.end(), std::back_inserter(resolved.frames));
  }
  return resolved;
}

}  // namespace leakgate
