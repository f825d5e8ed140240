// What a machine that has too much to do brings about, piece by piece: threads that are met
// before they have come any further, and threads that stop late, with a lock.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "runner/attach/linux/held_thread.h"
#include "runner/attach/linux/remote_calls.h"
#include "runner/attach/linux/target_layout.h"
#include "runner/attach/linux/target_module.h"
#include "runner/attach/linux/thread_stops.h"
#include "runner/process/proc_files.h"
#include "tests/attach/attached_program.h"

namespace leakgate::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience(5000);
constexpr std::uint64_t kNowAndLocal = 2;  // RTLD_NOW | RTLD_LOCAL

// Takes the thread of the program that waits for input.
HeldThread Take(int pid, int tid) {
  auto thread = HeldThread::Take(pid, tid);
  if (!thread || !*thread || !(*thread)->AwaitStop(kPatience)) {
    throw std::runtime_error("it does not stop");
  }
  return **std::move(thread);
}

// A thread that was asked to stop, and did so late, has the lock that the call waits for.
TEST(BusyMachineTest, ACallGoesOnOnceAStoppedThreadIsLetGo) {
  AttachedProgram program;
  const int with_lock = std::stoi(program.Ask("thread_in_loader"));
  std::string error = "not called";
  int times = 0;
  std::thread([&] {
    const auto memory = TargetMemory::Open(program.pid());
    const auto layout = TargetLayout::Read(*memory);
    HeldThread late = Take(program.pid(), with_lock);
    HeldThread thread = Take(program.pid(), program.pid());
    auto calls = RemoteCalls::Begin(thread, *memory, layout->library(), [&] {
      if (times++ != 0) return;
      late.Release();
      ::syscall(SYS_tgkill, program.pid(), with_lock, SIGUSR1);
    });
    const auto called = calls->Call(layout->dlopen(), AgentPath(), kNowAndLocal);
    error = called ? "" : called.error().message;
  }).join();
  EXPECT_EQ(error, "");
  EXPECT_GT(times, 0);
  EXPECT_EQ(program.Ask("malloc 1 1"), "ok");
}

// Children on one processor.
class OneProcessor {
 public:
  ~OneProcessor() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }

  pid_t AddBusy(int policy) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      cpu_set_t first{};
      ::sched_getaffinity(0, sizeof(first), &first);
      std::size_t processor = 0;
      while (!CPU_ISSET(processor, &first)) ++processor;
      CPU_ZERO(&first);
      CPU_SET(processor, &first);
      ::sched_setaffinity(0, sizeof(first), &first);
      const sched_param none{};
      ::sched_setscheduler(0, policy, &none);
      std::atomic<std::uint64_t> rounds{0};
      for (;;) ++rounds;
    }
    pids_.push_back(pid);
    return pid;
  }

 private:
  std::vector<pid_t> pids_;
};

// What is idle runs for an instant in some hundred milliseconds, beside what is not.
TEST(BusyMachineTest, AThreadIsNotLookedAtAgainBeforeItHasRun) {
  OneProcessor processor;
  const pid_t starved = processor.AddBusy(SCHED_IDLE);
  for (int i = 0; i < 2; ++i) processor.AddBusy(SCHED_OTHER);
  std::this_thread::sleep_for(milliseconds(50));
  ThreadProgress progress(starved);
  int not_moved = 0;
  const auto end = std::chrono::steady_clock::now() + milliseconds(800);
  while (not_moved < 20 && std::chrono::steady_clock::now() < end) {
    progress.NoteLook(starved);
    const auto before = TimeOnProcessor(starved, starved);
    std::this_thread::sleep_for(milliseconds(1));
    const bool has_moved = progress.HasMoved(starved);
    const auto after = TimeOnProcessor(starved, starved);
    if (before != after) continue;
    EXPECT_FALSE(has_moved);
    ++not_moved;
  }
  EXPECT_GT(not_moved, 0);
}

TEST(BusyMachineTest, AThreadThatRunsOrWaitsIsLookedAtAgain) {
  OneProcessor processor;
  const pid_t busy = processor.AddBusy(SCHED_OTHER);
  ThreadProgress progress(busy);
  progress.NoteLook(busy);
  const auto begin = TimeOnProcessor(busy, busy);
  while (TimeOnProcessor(busy, busy) < *begin + milliseconds(1)) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(progress.HasMoved(busy));

  AttachedProgram program;
  ThreadProgress of_waiting(program.pid());
  of_waiting.NoteLook(program.pid());
  while (IsReadyToRun(program.pid(), program.pid())) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(of_waiting.HasMoved(program.pid()));
}

// Given up is only who has had the chance.
TEST(BusyMachineTest, PatienceEndsOnceEachThreadHasRun) {
  OneProcessor processor;
  const pid_t starved = processor.AddBusy(SCHED_IDLE);
  for (int i = 0; i < 2; ++i) processor.AddBusy(SCHED_OTHER);
  std::this_thread::sleep_for(milliseconds(50));
  const ThreadProgress progress(starved);
  const auto begin = *TimeOnProcessor(starved, starved);
  const auto has_run = [&] {
    return *TimeOnProcessor(starved, starved) - begin >= milliseconds(5);
  };
  const auto end = std::chrono::steady_clock::now() + milliseconds(800);
  while (std::chrono::steady_clock::now() < end) {
    const bool had_run = has_run();
    const bool is_spent = progress.IsSpent(milliseconds(0));
    if (had_run || !has_run()) {
      EXPECT_EQ(is_spent, had_run);
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
}

}  // namespace
}  // namespace leakgate::test
