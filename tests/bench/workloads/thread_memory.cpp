// What a tracer takes for itself: the memory of a process with some threads
// that have all allocated, and wait.
//
// thread_memory THREADS
#include <barrier>
#include <thread>
#include <vector>

#include "call_depth.h"
#include "memory_use.h"

namespace {

void AllocateALittle() {
  for (std::uint64_t i = 0; i < 100; ++i) {
    void* const block = std::malloc(64);
    bench::Use(block);
    std::free(block);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = bench::Argument(argc, argv, 1);
  std::barrier all_have_allocated(static_cast<std::ptrdiff_t>(count + 1));
  std::barrier memory_was_read(static_cast<std::ptrdiff_t>(count + 1));
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      bench::CallAtDepth(10, AllocateALittle);
      bench::CallAtDepth(40, AllocateALittle);
      all_have_allocated.arrive_and_wait();
      memory_was_read.arrive_and_wait();
    });
  }
  all_have_allocated.arrive_and_wait();
  const bench::MemoryUse use = bench::ReadMemoryUse();
  memory_was_read.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  bench::Print("total_kib", static_cast<double>(use.private_kib + use.region_kib));
}
