// AddAsOwner is one step for the thread's own signal handlers, which may add to the same counter
// (plugin/agent/arch/README.md). An addition that is a load and a store would lose what a handler
// adds in between.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "plugin/agent/arch/processor.h"

#include LEAKGATE_ARCH(counter)

namespace leakgate::test {
namespace {

std::atomic<std::uint64_t> g_counter{0};
std::atomic<std::uint64_t> g_handled{0};

TEST(CounterTest, LosesNothingToASignalHandlerThatAdds) {
  constexpr std::uint64_t kSignals = 20'000;
  struct sigaction action {};
  action.sa_handler = [](int) {
    agent::AddAsOwner(g_counter, 1);
    g_handled.fetch_add(1, std::memory_order_relaxed);
  };
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGUSR2, &action, &before), 0);
  std::atomic<bool> is_done{false};
  std::thread sends([&is_done, to = ::pthread_self()] {
    while (!is_done) ::pthread_kill(to, SIGUSR2);
  });
  std::uint64_t added = 0;
  while (g_handled.load(std::memory_order_relaxed) < kSignals) {
    agent::AddAsOwner(g_counter, 5);
    added += 5;
  }
  is_done = true;
  sends.join();
  action.sa_handler = SIG_IGN;  // one that is still pending is forgotten
  ASSERT_EQ(::sigaction(SIGUSR2, &action, nullptr), 0);
  ASSERT_EQ(::sigaction(SIGUSR2, &before, nullptr), 0);
  EXPECT_EQ(g_counter.load(), added + g_handled.load());
}

}  // namespace
}  // namespace leakgate::test
