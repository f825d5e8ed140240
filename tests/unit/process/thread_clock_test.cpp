#include "runner/process/linux/thread_clock.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace leakgate::test {
namespace {

using Clock = std::chrono::steady_clock;

void RunOn(int processor) {
  cpu_set_t there;
  CPU_ZERO(&there);
  CPU_SET(static_cast<std::size_t>(processor), &there);
  (void)::sched_setaffinity(0, sizeof(there), &there);
}

// A thread that sleeps on a processor until it is destroyed.
class Sleeper {
 public:
  explicit Sleeper(int processor) : thread_([this, processor] { Sleep(processor); }) {
    while (tid_.load() == 0 || !NameIfAsleep(::getpid(), tid_.load())) std::this_thread::yield();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    wakes_.notify_one();
    thread_.join();
  }

  [[nodiscard]] int tid() const { return tid_.load(); }
  // When it had not fallen asleep yet.
  [[nodiscard]] Clock::time_point awake() const { return awake_; }

 private:
  void Sleep(int processor) {
    RunOn(processor);
    std::unique_lock lock(mutex_);
    awake_ = Clock::now();
    tid_ = ::gettid();
    wakes_.wait(lock, [this] { return is_over_; });
  }

  std::mutex mutex_;
  std::condition_variable wakes_;
  bool is_over_ = false;
  Clock::time_point awake_{};
  std::atomic<int> tid_{0};
  std::thread thread_;  // the last member, because it uses the others
};

// The clocks of two processors are some 100 ms apart on a virtual machine that has run for some
// minutes.
TEST(ThreadClockTest, HasNoThreadSleepLongerThanItDoesWhicheverProcessorsAreItsOwnAndTheAskers) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  int told = 0;
  for (int its = 0; its < 8; ++its) {
    if (!CPU_ISSET(static_cast<std::size_t>(its), &before)) continue;
    const Sleeper sleeper(its);
    for (int own = 0; own < 8; ++own) {
      if (!CPU_ISSET(static_cast<std::size_t>(own), &before)) continue;
      RunOn(own);
      const auto since = SleepsSince(::getpid(), sleeper.tid());
      if (!since) continue;
      ++told;
      EXPECT_GE(*since, sleeper.awake() - std::chrono::milliseconds(10)) << its << ", " << own;
      EXPECT_LE(*since, Clock::now()) << its << ", " << own;
    }
    ::sched_setaffinity(0, sizeof(before), &before);
  }
  if (told == 0) GTEST_SKIP() << "this kernel does not tell";
}

TEST(ThreadClockTest, LeavesTheAskersProcessorsAsTheyAre) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  const Sleeper sleeper(::sched_getcpu());

  (void)SleepsSince(::getpid(), sleeper.tid());

  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace leakgate::test
