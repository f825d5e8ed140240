// Processes that go while they are looked at.
#include "runner/process/process_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "runner/process/proc_files.h"
#include "runner/snapshot/file/describe_process.h"

namespace leakgate {
namespace {

using std::chrono::steady_clock;

// A thread whose children end at once, one after the other.
class ShortLived {
 public:
  ShortLived() : thread_([this] { Run(); }) {}
  ~ShortLived() {
    is_done_ = true;
    thread_.join();
  }
  ShortLived(const ShortLived&) = delete;
  ShortLived& operator=(const ShortLived&) = delete;

  int pid() const { return pid_; }

 private:
  void Run() {
    while (!is_done_) {
      const int pid = ::vfork();
      if (pid == 0) ::_exit(0);
      pid_ = pid;
      ::waitpid(pid, nullptr, 0);
    }
  }

  std::atomic<bool> is_done_{false};
  std::atomic<int> pid_{0};
  std::thread thread_;
};

TEST(ProcessTreeTest, BearsThatProcessesGoWhileTheyAreLookedAt) {
  const ShortLived processes;
  const steady_clock::time_point end = steady_clock::now() + std::chrono::milliseconds(500);
  while (steady_clock::now() < end) {
    const int pid = processes.pid();
    ASSERT_NO_THROW((void)CarriesMark(pid, "LEAKGATE_NONE=1"));
    ASSERT_NO_THROW((void)IsBelow(pid, ::getpid()));
    ASSERT_NO_THROW((void)ReadMaps(pid));
    ASSERT_NO_THROW((void)ListThreads(pid));
  }
}

TEST(WholeFileTest, HasWhyItCannotBeRead) {
  EXPECT_EQ(ReadProcFile("/proc/self/mem").error(), std::errc::io_error);
  EXPECT_EQ(ReadProcFile("/proc/self").error(), std::errc::is_a_directory);
  EXPECT_EQ(ReadProcFile("/nonexistent").error(), std::errc::no_such_file_or_directory);
  EXPECT_NE(ReadProcFile("/proc/self/stat").value(), "");
}

}  // namespace
}  // namespace leakgate
