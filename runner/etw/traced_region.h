// Writes what a heap trace has found into a region, as an agent would have: the live blocks, their
// stacks, threads and modules. It may be written again later: then what was freed since is taken
// out. One thread.
//
// Stacks begin where the program or its runtime called the system's heap. The innermost frames, of
// the heap and of its tracing, are left out.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/etw/heap_trace.h"
#include "runner/etw/traced_modules.h"
#include "runner/region/region_writer.h"

namespace leakgate {

class TracedRegion {
 public:
  // `modules` must outlive this object.
  TracedRegion(RegionWriter writer, const TracedModules& modules)
      : writer_(std::move(writer)), modules_(modules) {}

  // REQUIRES: `trace` is finished, and the same each time.
  void Write(const HeapTrace& trace);
  void SetEnd(ProgramEnd end) { writer_.SetEnd(end); }

 private:
  std::uint32_t StackOf(const HeapTrace& trace, const TracedBlock& block);
  std::uint32_t IdOf(std::size_t module);

  RegionWriter writer_;
  const TracedModules& modules_;
  std::vector<TracedBlock> written_;                    // by address
  std::unordered_map<std::size_t, std::uint32_t> ids_;  // of modules
  // By the trace's number of the stack, and how often modules had come and gone.
  std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> stacks_;
};

}  // namespace leakgate
