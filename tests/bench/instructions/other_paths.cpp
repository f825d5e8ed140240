// What is not the hot path, and is common all the same: stacks that are new, and frees of blocks
// that another thread has allocated. As hot_path.cpp, for callgrind to count.
//
// leakgate_bench_other_paths new-stacks BLOCKS    allocates at each node of a tree of calls, which
//                                                 makes every stack a new one
// leakgate_bench_other_paths frees BLOCKS         frees what another thread has allocated
// leakgate_bench_other_paths reallocs TIMES       reallocates a block in its place
#include <string_view>
#include <thread>

#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/windows/windows.h"
#include "tests/bench/workloads/timing.h"
#include "tests/unit/agent/traced_region.h"

namespace {

using namespace leakgate;

// As glibc places blocks of 64 bytes.
void* BlockAt(std::uint64_t index) { return reinterpret_cast<void*>(0x1000'0000 + index * 80); }

[[gnu::noinline]] void Allocate(void* block) {
  agent::RecordAllocation(block, 64, AllocationKind::kMalloc, LEAKGATE_CALLER());
  asm volatile("");  // no tail call
}

[[gnu::noinline]] void Free(void* block) {
  if (!agent::RecordFreeHere(block, FreeKind::kFree) &&
      !agent::RecordFreeInWindow(block, FreeKind::kFree)) {
    agent::RecordFree(block, {FreeKind::kFree, LEAKGATE_CALLER()});
  }
  asm volatile("");
}

[[gnu::noinline]] void Reallocate(void* block) {
  agent::TracedAgain(block, 64, LEAKGATE_CALLER(), [=](std::size_t) { return block; });
  asm volatile("");
}

struct Tree {
  std::uint64_t made = 0;
  std::uint64_t blocks = 0;
};

// Three call sites, so that the way to a node is a stack of its own.
[[gnu::noinline]] void Grow(Tree& tree, int levels) {
  if (tree.made == tree.blocks) return;
  Allocate(BlockAt(tree.made++));
  if (levels == 1) return;
  Grow(tree, levels - 1);
  asm volatile("" ::: "memory");
  Grow(tree, levels - 1);
  asm volatile("" ::: "memory");
  Grow(tree, levels - 1);
  asm volatile("" ::: "memory");
}

}  // namespace

// By these names the counting is switched on and off.
extern "C" [[gnu::noinline]] void CountedNewStacks(std::uint64_t blocks) {
  Tree tree{.blocks = blocks};
  Grow(tree, 12);
}

extern "C" [[gnu::noinline]] void CountedFrees(std::uint64_t blocks) {
  for (std::uint64_t i = 0; i < blocks; ++i) Free(BlockAt(i));
}

extern "C" [[gnu::noinline]] void CountedReallocs(std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) Reallocate(BlockAt(0));
}

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const std::uint64_t blocks = bench::Argument(argc, argv, 2);
  test::TracedRegion();
  if (!agent::StartThreads() || !agent::SwitchOn()) return 1;
  agent::OpenWindow({.kind = WindowKind::kTest, .name = "Other.Paths", .file = {}});
  if (what == "new-stacks") {
    CountedNewStacks(blocks);
    return 0;
  }
  if (what == "reallocs") {
    Allocate(BlockAt(0));
    CountedReallocs(blocks);
    return 0;
  }
  if (what != "frees") return 2;
  std::thread([=] {
    for (std::uint64_t i = 0; i < blocks; ++i) Allocate(BlockAt(i));
  }).join();
  if (!agent::CanRecord()) return 1;
  CountedFrees(blocks);
}
