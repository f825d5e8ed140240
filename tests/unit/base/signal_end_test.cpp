// What remains of a process that a signal ends. Each test forks such a process.
#include "runner/base/signal_end.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/command.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// Runs `function` in a process, and returns the signal that ended that, or its negative exit code.
// The process ignores no signal but `ignored`, even if this one is a background job and ignores
// several.
template <typename Function>
int EndOf(Function function, int ignored = 0) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
      ::signal(signal, signal == ignored ? SIG_IGN : SIG_DFL);
    }
    HandleEndSignals();
    function();
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

class SignalEndTest : public testing::TestWithParam<int> {
 protected:
  fs::path file() const { return file_; }

 private:
  const test::TemporaryDirectory directory_;
  const fs::path file_{directory_.Write("file", "half of it")};
};

TEST_P(SignalEndTest, IsByTheSignalAndTakesPartialFilesAway) {
  EXPECT_EQ(EndOf([this] {
              const PartialFile partial(AT_FDCWD, file().native());
              ::raise(GetParam());
            }),
            GetParam());
  EXPECT_FALSE(fs::exists(file()));
}

TEST_P(SignalEndTest, LeavesWholeFiles) {
  EXPECT_EQ(EndOf([this] {
              { const PartialFile partial(AT_FDCWD, file().native()); }
              ::raise(GetParam());
            }),
            GetParam());
  EXPECT_TRUE(fs::exists(file()));
}

TEST_P(SignalEndTest, IsNoneWhereTheSignalWasIgnored) {
  EXPECT_EQ(EndOf([] { ::raise(GetParam()); }, GetParam()), -7);
}

INSTANTIATE_TEST_SUITE_P(Signals, SignalEndTest, testing::Values(SIGHUP, SIGINT, SIGTERM));

TEST(SignalDeferralTest, HasWhoeverIsAtWorkNoticeTheFirst) {
  EXPECT_EQ(EndOf([] {
              EndSignalDeferral deferral;
              if (deferral.WasAskedToEnd()) ::_exit(1);
              ::raise(SIGTERM);
              if (!deferral.WasAskedToEnd()) ::_exit(2);
            }),
            -7);
}

TEST(SignalDeferralTest, EndsBySecondSignals) {
  EXPECT_EQ(EndOf([] {
              const EndSignalDeferral deferral;
              ::raise(SIGTERM);
              ::raise(SIGINT);
            }),
            SIGTERM);
}

TEST(SignalDeferralTest, EndsByASignalThatNobodyNoticed) {
  EXPECT_EQ(EndOf([] {
              {
                const EndSignalDeferral deferral;
                ::raise(SIGTERM);
              }
              ::_exit(3);
            }),
            SIGTERM);
}

TEST(SignalDeferralTest, EndsWhereItTakesTooLongToNotice) {
  EXPECT_EQ(EndOf([] {
              const EndSignalDeferral deferral;
              ::raise(SIGTERM);
              for (;;) ::pause();
            }),
            SIGTERM);
}

}  // namespace
}  // namespace leakgate
