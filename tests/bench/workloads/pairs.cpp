// Pairs of malloc and free at one place, again and again: what a tracer costs
// when it has seen the stack before. On one thread or several; with more
// threads than cores, an operation's time is that of the core it ran on.
//
// pairs DEPTH THREADS BUDGET_MS
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "call_depth.h"

namespace {

constexpr std::uint64_t kPairsPerBatch = 64;

std::uint64_t Batch() {
  for (std::uint64_t i = 0; i < kPairsPerBatch; ++i) {
    void* const block = std::malloc(16 + i % 8 * 16);
    bench::Use(block);
    std::free(block);
  }
  return kPairsPerBatch;
}

struct Race {
  std::atomic<bool> has_begun{false};
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> operations{0};
};

void RunUntilOver(Race& race) {
  Batch();
  while (!race.has_begun) std::this_thread::yield();  // wait() may hang with mingw-w64's library
  std::uint64_t operations = 0;
  while (!race.is_over.load(std::memory_order_relaxed)) operations += Batch();
  race.operations += operations;
}

void MeasureThreads(std::uint64_t depth, std::uint64_t thread_count, std::uint64_t budget_ms) {
  Race race;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&] { bench::CallAtDepth(depth, [&] { RunUntilOver(race); }); });
  }
  const auto begin = bench::Clock::now();
  race.has_begun = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(budget_ms));
  race.is_over = true;
  for (std::thread& thread : threads) thread.join();
  const auto took = bench::Clock::now() - begin;
  const std::uint64_t cores =
      std::min<std::uint64_t>(thread_count, std::thread::hardware_concurrency());
  bench::Print("ns_per_op", bench::PerOperation(took * cores, race.operations));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t depth = bench::Argument(argc, argv, 1);
  const std::uint64_t threads = bench::Argument(argc, argv, 2);
  const std::uint64_t budget_ms = bench::Argument(argc, argv, 3);
  if (threads > 1) {
    MeasureThreads(depth, threads, budget_ms);
  } else {
    bench::CallAtDepth(depth, [=] { bench::Measure(budget_ms, Batch); });
  }
}
