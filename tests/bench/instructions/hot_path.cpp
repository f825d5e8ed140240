// The hot path by itself, for its instructions to be counted: the agent's own
// objects record blocks and frees in a region of this process, with no
// allocator in between. Callgrind counts what is done in CountedPairs only.
//
// leakgate_bench_hot_path DEPTH PAIRS [EVENTS]: whose stacks are recorded, as a session is told;
// without, as ever.
#include <cstdio>
#include <cstdlib>

#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/windows/windows.h"
#include "runner/region/region_words.h"
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

// The same where stacks are not as ever: the long way round.
[[gnu::noinline]] void AllocateOtherwise(void* block) {
  agent::RecordAnyAllocation(block, 64, AllocationKind::kMalloc, LEAKGATE_CALLER());
  asm volatile("");
}

[[gnu::noinline]] void FreeOtherwise(void* block) {
  const agent::FreeCall call{FreeKind::kFree, LEAKGATE_CALLER()};
  const bool is_recorded = agent::TakesStacksOf(kStacksOfFree)
                               ? agent::RecordFreeByStack(block, call)
                               : agent::RecordFreeHere(block, FreeKind::kFree);
  if (!is_recorded) agent::RecordFree(block, call);
  asm volatile("");
}

void* const g_block = reinterpret_cast<void*>(0x1000'0000);
bool g_is_as_ever = true;

}  // namespace

// By this name the counting is switched on and off.
extern "C" [[gnu::noinline]] void CountedPairs(std::uint64_t pairs) {
  if (!g_is_as_ever) {
    for (std::uint64_t i = 0; i < pairs; ++i) {
      AllocateOtherwise(g_block);
      FreeOtherwise(g_block);
    }
    return;
  }
  for (std::uint64_t i = 0; i < pairs; ++i) {
    Allocate(g_block);
    Free(g_block);
  }
}

namespace {

int Count(int argc, char** argv) {
  const std::uint64_t depth = bench::Argument(argc, argv, 1);
  const std::uint64_t pairs = bench::Argument(argc, argv, 2);
  const Expected<std::uint32_t> events =
      argc > 3 ? ParseStackEvents(argv[3]) : Expected<std::uint32_t>(kDefaultStackEvents);
  if (!events) return 2;
  g_is_as_ever = *events == kDefaultStackEvents;
  test::TracedRegion();
  if (!agent::StartThreads() || !agent::SwitchOn(*events)) return 1;
  agent::OpenWindow({.kind = WindowKind::kTest, .name = "Hot.Path", .file = {}});
  bench::CallAtDepth(depth, [=] { CountedPairs(pairs); });
  return 0;
}

// As the agent's own frame around main does.
[[gnu::noinline]] int CallCount(int argc, char** argv) {
  const agent::CallerFrame caller = LEAKGATE_CALLER();
  agent::NoteFirstFrame({caller.pc, caller.sp, kMaxStackDepth});
  return Count(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  const int status = CallCount(argc, argv);
  asm volatile("");  // no tail call
  return status;
}
