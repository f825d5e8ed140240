// A run's server and those who ask it, in one process. What it serves is a child that sleeps.
#include "runner/run/run_server.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "runner/host/named_sockets.h"
#include "runner/process/proc_files.h"
#include "runner/region/region_file.h"
#include "runner/sessions/session_client.h"
#include "runner/sessions/take_snapshot.h"

namespace leakgate {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class RunServerTest : public testing::Test {
 protected:
  RunServerTest() {
    child_ = ::fork();
    if (child_ == 0) {
      ::alarm(60);  // whoever forgets it
      while (true) ::pause();
    }
    region_ = RegionFile::Create({.pid = child_}).value();
    Serve();
  }
  ~RunServerTest() override {
    server_.reset();
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  void Serve() {
    server_.reset();
    server_ = RunServer::Start([this] {
      ProcessStatus status =
          StatusOf(region_->reader(), has_ended_ ? ImageLife::kOver : ImageLife::kExecuting);
      status.pid = child_;
      status.program = {"/bin/program", {"program"}};
      std::vector<ProcessRegion> processes;
      processes.push_back({status, UniqueFd(::dup(region_->fd().get()))});
      return processes;
    });
    ASSERT_NE(server_, nullptr);
  }
  // "t": stopped by a tracer.
  char State() const { return StatusField(child_, child_, "State").at(0); }
  bool ComesTo(char state) const {
    for (int i = 0; i < 1000 && State() != state; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return State() == state;
  }

  pid_t child_ = -1;
  std::atomic<bool> has_ended_ = false;
  std::unique_ptr<RegionFile> region_;
  std::shared_ptr<RunServer> server_;
};

TEST_F(RunServerTest, HandsOutTheRegion) {
  const auto found = FindInRuns(child_);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((**found).run_pid, ::getpid());
  EXPECT_EQ((**found).status.pid, child_);
  EXPECT_EQ((**found).status.program.path, "/bin/program");
  EXPECT_TRUE(RegionReader::Attach((**found).region));
}

TEST_F(RunServerTest, KnowsNoOtherProcess) {
  const auto found = FindInRuns(::getpid());
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
}

TEST_F(RunServerTest, LetsNobodyTakeASnapshotBeforeTracingBegins) {
  const auto subject = SnapshotSubject::Find(child_, "");
  ASSERT_FALSE(subject);
  EXPECT_THAT(subject.error().message, HasSubstr("has not begun to be traced; try again"));
}

TEST_F(RunServerTest, PrefersAProcessThatRunsToOneThatHasEnded) {
  has_ended_ = true;
  EXPECT_EQ((**FindInRuns(child_)).status.state, ProcessState::kEnded);
  EXPECT_TRUE(RequireInNoRun(child_));  // the PID may be another's by now
  has_ended_ = false;
  EXPECT_FALSE(RequireInNoRun(child_));
}

TEST_F(RunServerTest, StopsAProcessUntilItIsReleased) {
  auto hold = RunHold::Take(::getpid(), child_);
  ASSERT_TRUE(hold) << hold.error().message;
  EXPECT_EQ(State(), 't');
  EXPECT_TRUE(hold->Release());
  EXPECT_TRUE(ComesTo('S'));
}

TEST_F(RunServerTest, LetsAProcessGoOnWhereWhoeverHeldItHasGone) {
  { const auto hold = RunHold::Take(::getpid(), child_); }
  EXPECT_TRUE(ComesTo('S'));
}

TEST_F(RunServerTest, LetsAProcessGoOnWhereTheRunEnds) {
  auto hold = RunHold::Take(::getpid(), child_);
  ASSERT_TRUE(hold);
  server_.reset();
  EXPECT_TRUE(ComesTo('S'));
  const Expected<void> released = hold->Release();
  ASSERT_FALSE(released);
  EXPECT_THAT(released.error().message, HasSubstr("has ended"));
}

TEST_F(RunServerTest, IsNotHeldUpByOneThatIsKilledMeanwhile) {
  auto hold = RunHold::Take(::getpid(), child_);
  ASSERT_TRUE(hold);
  ::kill(child_, SIGKILL);
  EXPECT_TRUE(hold->Release());
}

TEST_F(RunServerTest, SaysThatItHoldsNoOther) {
  const auto hold = RunHold::Take(::getpid(), ::getpid());
  ASSERT_FALSE(hold);
  EXPECT_THAT(hold.error().message, HasSubstr("does not trace PID"));
}

TEST_F(RunServerTest, RefusesWhatOnlyASessionDoes) {
  for (const char* const what : {"stop", "update", "", "x"}) {
    const UniqueFd socket = ConnectToRun(::getpid());
    ASSERT_TRUE(socket);
    ASSERT_TRUE(SendMessage(socket, {{{"do", what}}}, "the run"));
    const auto answer = ReceiveMessage(socket, "the run");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_THAT(answer->body["error"].get<std::string>(), HasSubstr("does not know"));
  }
}

// The run ends in time whoever is connected.
TEST_F(RunServerTest, EndsThoughSomebodySaysNothing) {
  const UniqueFd silent = ConnectToRun(::getpid());
  ASSERT_TRUE(silent);
  const auto begin = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(RunServerTest, IsListed) {
  std::vector<ProcessStatus> processes;
  for (const RunStatus& run : SurveySessionsAndRuns().runs) {
    if (run.run_pid == ::getpid()) processes = run.processes;
  }
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_EQ(processes[0].state, ProcessState::kStarting);
}

}  // namespace
}  // namespace leakgate
