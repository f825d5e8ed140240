// A test that loses a block while 1,000 threads wait. Each of them has allocated before. Prints
// what passes between the end of the test's code and the begin of the next test's.
#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "timing.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kThreads = 1000;

class ThreadsAlive : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (int i = 0; i < kThreads; ++i) {
      threads_.emplace_back([] {
        void* const block = std::malloc(64);
        bench::Use(block);
        std::free(block);
        all_have_allocated_.arrive_and_wait();
        may_end_.arrive_and_wait();
      });
    }
    all_have_allocated_.arrive_and_wait();
  }
  static void TearDownTestSuite() {
    may_end_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  static inline std::barrier<> all_have_allocated_{kThreads + 1};
  static inline std::barrier<> may_end_{kThreads + 1};
  static inline std::vector<std::thread> threads_;
  static inline Clock::time_point end_;  // of a test's code

  static double SinceEndMs() {
    return std::chrono::duration<double, std::milli>(Clock::now() - end_).count();
  }
};

void* g_kept = nullptr;

TEST_F(ThreadsAlive, KeepsABlock) {
  g_kept = std::malloc(100);
  bench::Use(&g_kept);
  end_ = Clock::now();
}

TEST_F(ThreadsAlive, LosesABlock) {
  bench::Print("kept_ms", SinceEndMs());
  bench::Use(std::malloc(100));
  end_ = Clock::now();
}

TEST_F(ThreadsAlive, Ends) { bench::Print("lost_ms", SinceEndMs()); }

}  // namespace
