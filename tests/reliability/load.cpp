// A test binary under load: what LOAD says, N times.
//
//   LOAD=tests N        as many tests, each allocating a little; one in a thousand leaks
//   LOAD=pairs N        allocations and frees in one test
//   LOAD=live N         blocks live at once, then one of them left
//   LOAD=stacks N       blocks by as many distinct stacks, all freed but one
//   LOAD=threads N      threads that allocate at once, and one that leaks
//   LOAD=soak N         rounds of threads, libraries that come and go, and stacks of all kinds;
//                       after each tenth, prints the kibibytes that the process has in memory
//   LOAD=heap N         GiB of live heap, in blocks of 1 KiB, all freed but one
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string g_load;
long g_count = 0;

__attribute__((noinline)) void Leak(std::size_t bytes) {
  void* volatile block = std::malloc(bytes);
  block = nullptr;
}

class Case : public testing::Test {
 public:
  explicit Case(long number) : number_(number) {}
  void TestBody() override {
    for (int i = 0; i < 10; ++i) std::free(std::malloc(static_cast<std::size_t>(i) * 16));
    if (number_ % 1000 == 0) Leak(10);
  }

 private:
  long number_;
};

void Pairs() {
  for (long i = 0; i < g_count; ++i) {
    void* volatile block = std::malloc(static_cast<std::size_t>(i % 500));
    std::free(block);
  }
  Leak(10);
}

void Live() {
  std::vector<void*> blocks(static_cast<std::size_t>(g_count));
  for (void*& block : blocks) block = std::malloc(24);
  for (void* block : blocks) std::free(block);
  Leak(10);
}

// A binary tree of calls: 2^20 ways down to the allocation.
__attribute__((noinline)) void Left(long path, int depth, std::vector<void*>& blocks);
__attribute__((noinline)) void Right(long path, int depth, std::vector<void*>& blocks) {
  if (depth == 0) return blocks.push_back(std::malloc(16));
  (path & 1) != 0 ? Left(path >> 1, depth - 1, blocks) : Right(path >> 1, depth - 1, blocks);
  asm volatile("");
}
void Left(long path, int depth, std::vector<void*>& blocks) {
  if (depth == 0) return blocks.push_back(std::malloc(16));
  (path & 1) != 0 ? Left(path >> 1, depth - 1, blocks) : Right(path >> 1, depth - 1, blocks);
  asm volatile("");
}
void Stacks() {
  std::vector<void*> blocks;
  blocks.reserve(static_cast<std::size_t>(g_count));
  for (long i = 0; i < g_count; ++i) Left(i, 20, blocks);
  for (void* block : blocks) std::free(block);
  Leak(10);
}

void Threads() {
  std::vector<std::thread> threads;
  for (long i = 0; i < g_count; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 100000; ++round) {
        void* volatile block = std::malloc(static_cast<std::size_t>(round % 300));
        std::free(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Leak(10);
}

void Heap() {
  std::vector<char*> blocks(static_cast<std::size_t>(g_count) << 20);
  for (char*& block : blocks) {
    block = static_cast<char*>(std::malloc(1U << 10));
    block[512] = 1;
  }
  for (char* block : blocks) std::free(block);
  Leak(10);
}

long ResidentKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
  }
  return 0;
}

void SoakRound(long round) {
  std::vector<std::thread> threads;
  for (long i = 0; i < 4; ++i) {
    threads.emplace_back([i, round] {
      std::vector<void*> blocks;
      for (long path = 0; path < 256; ++path) Left(path ^ i, 8, blocks);
      for (void* block : blocks) std::free(block);
      std::vector<std::string> texts(100, std::string(static_cast<std::size_t>(round % 900), 'x'));
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (void* const library = dlopen("libz.so.1", RTLD_NOW)) dlclose(library);
}

void Soak() {
  for (long round = 1; round <= g_count; ++round) {
    SoakRound(round);
    if (round % std::max(1L, g_count / 10) == 0) std::printf("resident %ld\n", ResidentKib());
  }
  Leak(10);
}

TEST(Load, IsCarried) {
  if (g_load == "soak") Soak();
  if (g_load == "pairs") Pairs();
  if (g_load == "live") Live();
  if (g_load == "stacks") Stacks();
  if (g_load == "threads") Threads();
  if (g_load == "heap") Heap();
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  g_load = std::getenv("LOAD") != nullptr ? std::getenv("LOAD") : "";
  g_count = argc > 1 ? std::atol(argv[1]) : 0;
  for (long i = 0; g_load == "tests" && i < g_count; ++i) {
    const std::string suite = "Suite" + std::to_string(i / 10);
    testing::RegisterTest(suite.c_str(), ("Case" + std::to_string(i)).c_str(), nullptr, nullptr,
                          __FILE__, __LINE__, [i]() -> testing::Test* { return new Case(i); });
  }
  return RUN_ALL_TESTS();
}
