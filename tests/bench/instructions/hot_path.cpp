// The hot path by itself, for its instructions to be counted: the agent's own
// objects record blocks and frees in a region of this process, with no
// allocator in between. Callgrind counts what is done in CountedPairs only.
//
// leakgate_bench_hot_path DEPTH PAIRS
#include <cstdio>
#include <cstdlib>

#include "plugin/agent/interpose.h"
#include "plugin/agent/on_switch.h"
#include "plugin/agent/recorder.h"
#include "plugin/agent/windows.h"
#include "tests/bench/workloads/call_depth.h"
#include "tests/unit/agent/traced_region.h"

namespace {

using namespace leakgate;

// What an interposed function does, but for the allocator.
[[gnu::noinline]] void Allocate(void* block) {
  agent::RecordAllocation(block, 64, AllocationKind::kMalloc, LEAKGATE_CALLER());
  asm volatile("");  // no tail call
}

[[gnu::noinline]] void Free(void* block) {
  if (!agent::RecordFreeHere(block, FreeKind::kFree)) {
    agent::RecordFree(block, {FreeKind::kFree, LEAKGATE_CALLER()});
  }
  asm volatile("");
}

}  // namespace

// By this name the counting is switched on and off.
extern "C" [[gnu::noinline]] void CountedPairs(std::uint64_t pairs) {
  void* const block = reinterpret_cast<void*>(0x1000'0000);
  for (std::uint64_t i = 0; i < pairs; ++i) {
    Allocate(block);
    Free(block);
  }
}

int main(int argc, char** argv) {
  const std::uint64_t depth = bench::Argument(argc, argv, 1);
  const std::uint64_t pairs = bench::Argument(argc, argv, 2);
  test::TracedRegion();
  if (!agent::StartThreads() || !agent::SwitchOn()) return 1;
  agent::OpenWindow({.kind = WindowKind::kTest, .name = "Hot.Path", .file = {}});
  bench::CallAtDepth(depth, [=] { CountedPairs(pairs); });
}
