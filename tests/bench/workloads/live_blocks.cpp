// Many blocks live at once, of 64 bytes on average: the time to make them, and
// the memory that they and their records take.
//
// live_blocks COUNT
// live_blocks COUNT hold      keeps them, and works on others until it is killed
#include "call_depth.h"
#include "memory_use.h"

namespace {

struct Block {
  Block* next;
};

// Sizes of 16 to 112 bytes, all equally often.
Block* Allocate(std::uint64_t count) {
  Block* last = nullptr;
  std::uint64_t random = 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    auto* const block = static_cast<Block*>(std::malloc(16 + (random >> 33) % 7 * 16));
    block->next = last;
    last = block;
  }
  return last;
}

void Free(Block* last) {
  while (last != nullptr) {
    Block* const next = last->next;
    std::free(last);
    last = next;
  }
}

void PrintMemory() {
  const bench::MemoryUse use = bench::ReadMemoryUse();
  bench::Print("private_mib", static_cast<double>(use.private_kib) / 1024);
  bench::Print("total_mib", static_cast<double>(use.private_kib + use.region_kib) / 1024);
  bench::Print("region_to_heap",
               static_cast<double>(use.region_kib) / static_cast<double>(use.heap_kib));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = bench::Argument(argc, argv, 1);
  Block* blocks = nullptr;
  const auto begin = bench::Clock::now();
  bench::CallAtDepth(10, [&] { blocks = Allocate(count); });
  bench::Print("ns_per_op", bench::PerOperation(bench::Clock::now() - begin, count));
  PrintMemory();
  while (argc > 2) Free(Allocate(100));
  Free(blocks);
}
