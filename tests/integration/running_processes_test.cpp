// Sessions that trace processes which run already, by PID.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::json;

class RunningProcessesTest : public testing::Test {
 protected:
  ~RunningProcessesTest() override { Leakgate({"session", "stop", session_}); }

  CommandResult Start() const { return Leakgate({"session", "start", session_, "--pid", pid()}); }
  std::string pid() const { return std::to_string(program_.pid()); }
  Json Process() const {
    const Json processes = Json::parse(
        Leakgate({"session", "query", session_, "--json"}).standard_output)["processes"];
    EXPECT_THAT(processes, SizeIs(1));
    return processes.empty() ? Json() : processes[0];
  }

  const std::string session_ = "running-" + std::to_string(::getpid());
  HeapOnRequest program_;  // without leakgate
};

TEST_F(RunningProcessesTest, CountsWhatIsAllocatedFromThenOn) {
  program_.Keep(100, 1000);
  const CommandResult started = Start();
  ASSERT_EQ(started.exit_code, 0) << started.standard_error;
  program_.Keep(7, 100);
  program_.Keep(3, 10);
  program_.Drop(1);
  const Json process = Process();
  EXPECT_EQ(process["state"], "tracing");
  EXPECT_EQ(process["live"]["blocks"], 9);
  EXPECT_EQ(process["live"]["bytes"], 720);
  EXPECT_GT(process["attached_seconds"], 0);
}

// An executable at a fixed address may have a copy of a variable of the dynamic linker's, as node
// has. Once it was taken for the dynamic linker, and nothing of it was seen.
TEST_F(RunningProcessesTest, CountsWhatIsAllocatedAtAFixedAddress) {
  HeapOnRequest fixed(HeapOnRequest::Fixture{"heap_on_request_fixed"});
  const CommandResult started =
      Leakgate({"session", "start", session_, "--pid", std::to_string(fixed.pid())});
  ASSERT_EQ(started.exit_code, 0) << started.standard_error;
  fixed.Keep(7, 100);
  fixed.Drop(1);
  const Json process = Process();
  EXPECT_EQ(process["live"]["blocks"], 6);
  EXPECT_EQ(process["live"]["bytes"], 600);
}

// glibc's chunks have 8 bytes of its own, and are multiples of 16. It calls a few in use that
// were freed and wait in the thread's cache: seven of a size.
TEST_F(RunningProcessesTest, AgreesWithTheCLibrary) {
  ASSERT_EQ(Start().exit_code, 0);
  const std::size_t before = program_.BytesInUse();
  program_.Keep(5000, 1000);
  program_.Keep(3000, 24);
  program_.Drop(1000);
  const std::size_t in_use = program_.BytesInUse() - before;
  const auto live = Process()["live"]["bytes"].get<std::size_t>();
  EXPECT_EQ(live, 5000U * 1000 + 2000U * 24);
  EXPECT_GE(in_use, live + 7000U * 8);
  EXPECT_LE(in_use, live + 7000U * 8 + 7U * 32);
}

// The same by another of its ways of counting, with blocks that have mappings of their own:
// those are whole pages.
TEST_F(RunningProcessesTest, AgreesWithMallocInfo) {
  ASSERT_EQ(Start().exit_code, 0);
  program_.BytesByMallocInfo();  // makes what it needs
  const auto live_before = Process()["live"]["bytes"].get<std::size_t>();
  const std::size_t before = program_.BytesByMallocInfo();
  program_.Keep(4, 300'000);
  program_.Keep(5000, 1000);
  program_.Keep(3000, 24);
  program_.Drop(1000);
  const std::size_t in_use = program_.BytesByMallocInfo() - before;
  const std::size_t live = Process()["live"]["bytes"].get<std::size_t>() - live_before;
  EXPECT_EQ(live, 4U * 300'000 + 5000U * 1000 + 2000U * 24);
  constexpr std::size_t kPages = (300'000 / 4096 + 1) * 4096;
  const std::size_t chunks = live + 7000U * 8 + 4U * (kPages - 300'000);
  EXPECT_GE(in_use, chunks);
  EXPECT_LE(in_use, chunks + 7U * 32);
}

TEST_F(RunningProcessesTest, MindsNoBlockOfBefore) {
  program_.Keep(100, 1000);
  ASSERT_EQ(Start().exit_code, 0);
  program_.Drop(100);
  EXPECT_EQ(Process()["live"]["blocks"], 0);
  EXPECT_EQ(program_.End(), 0);
  EXPECT_EQ(Process()["state"], "ended");
}

TEST_F(RunningProcessesTest, SaysInASnapshotWhatIsNotKnown) {
  ASSERT_EQ(Start().exit_code, 0);
  program_.Keep(5, 50);
  const TemporaryDirectory directory;
  const std::string file = directory.File("a.snapshot");
  ASSERT_EQ(Leakgate({"snapshot", "take", "--pid", pid(), "-o", file}).exit_code, 0);
  const std::string shown = Leakgate({"snapshot", "show", file}).standard_output;
  EXPECT_THAT(shown, HasSubstr("250 B in 5 blocks"));
  EXPECT_THAT(shown, HasSubstr("MISSING    what was allocated before "));
  EXPECT_THAT(shown, HasSubstr("heap_on_request.cpp:"));
}

TEST_F(RunningProcessesTest, LetsTheProcessGoOnOnceItIsDropped) {
  ASSERT_EQ(Start().exit_code, 0);
  program_.Keep(5, 50);
  ASSERT_EQ(Leakgate({"session", "update", session_, "--drop-pid", pid()}).exit_code, 0);
  program_.Keep(5, 50);
  EXPECT_EQ(Process()["state"], "disabled");
  EXPECT_EQ(Process()["live"]["blocks"], 5);
  program_.Drop(10);
  EXPECT_EQ(program_.End(), 0);
}

TEST_F(RunningProcessesTest, CanBeEnabledAgain) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(
        Leakgate({"snapshot", "config", "--pid", pid(), "--session", session_, "enable"}).exit_code,
        0);
    program_.Keep(4, 10);
    EXPECT_EQ(Process()["live"]["blocks"], 4);
    ASSERT_EQ(Leakgate({"snapshot", "config", "--pid", pid(), "--session", session_, "disable"})
                  .exit_code,
              0);
  }
  program_.Drop(12);
  EXPECT_EQ(program_.End(), 0);
}

TEST_F(RunningProcessesTest, IsNoLongerTracedWhenTheSessionStops) {
  ASSERT_EQ(Start().exit_code, 0);
  const CommandResult stopped = Leakgate({"session", "stop", session_});
  EXPECT_EQ(stopped.exit_code, 0);
  EXPECT_EQ(stopped.standard_error, "");
  EXPECT_THAT(ReadFile("/proc/" + pid() + "/maps"), Not(HasSubstr("memfd:leakgate")));
  program_.Keep(5, 50);
  EXPECT_EQ(program_.End(), 0);
}

TEST_F(RunningProcessesTest, SaysWhyAProcessCannotBeTraced) {
  const pid_t debugged = ::fork();
  if (debugged == 0) {
    ::ptrace(PTRACE_TRACEME);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  ::waitpid(debugged, nullptr, WUNTRACED);
  const CommandResult result =
      Leakgate({"session", "start", session_, "--pid", std::to_string(debugged), "--pid", pid()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_error, HasSubstr(std::to_string(debugged)));
  EXPECT_EQ(Leakgate({"session", "query", session_}).exit_code, 2);
  ::kill(debugged, SIGKILL);
  ::waitpid(debugged, nullptr, 0);
}

// Attaching is several steps. Two that mix once left a process traced by neither, or by nobody.
TEST_F(RunningProcessesTest, AreAttachedToByOneAtATime) {
  const int memory = ::open(("/proc/" + pid() + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(memory, LOCK_EX), 0);
  std::future<CommandResult> waiting = std::async(std::launch::async, [this] { return Start(); });
  EXPECT_EQ(waiting.wait_for(std::chrono::seconds(2)), std::future_status::timeout);
  EXPECT_THAT(ReadFile("/proc/" + pid() + "/maps"), Not(HasSubstr("leakgate")));
  ::flock(memory, LOCK_UN);
  EXPECT_EQ(waiting.get().exit_code, 0);

  // Whoever keeps it for ever is not waited for.
  ::flock(memory, LOCK_EX);
  const CommandResult refused = Leakgate({"session", "start", session_ + "-too", "--pid", pid()});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.standard_error,
              HasSubstr("another leakgate has been attaching to PID " + pid()));
  ::close(memory);
}

TEST_F(RunningProcessesTest, BelongToOneOfTwoThatAskAtOnce) {
  for (int i = 0; i < 10; ++i) {
    const auto start = [this](const std::string& name) {
      return std::async(std::launch::async, [this, name] {
        return Leakgate({"session", "start", name, "--pid", pid()});
      });
    };
    std::future<CommandResult> results[] = {start(session_), start(session_ + "-too")};
    const CommandResult one = results[0].get();
    const CommandResult other = results[1].get();
    const CommandResult& refused = one.exit_code == 0 ? other : one;
    EXPECT_EQ(one.exit_code + other.exit_code, 3) << one.standard_error << other.standard_error;
    EXPECT_THAT(refused.standard_error,
                HasSubstr("PID " + pid() + " is traced already, by leakgate with PID"));
    Leakgate({"session", "stop", one.exit_code == 0 ? session_ : session_ + "-too"});
    EXPECT_THAT(ReadFile("/proc/" + pid() + "/maps"), Not(HasSubstr("memfd:leakgate")));
  }
}

// What a dead owner left goes on; another session takes it over.
TEST_F(RunningProcessesTest, IsTakenOverFromAnOwnerThatWasKilled) {
  ASSERT_EQ(Start().exit_code, 0);
  const Json status =
      Json::parse(Leakgate({"session", "query", session_, "--json"}).standard_output);
  ASSERT_EQ(::kill(status["owner_pid"].get<pid_t>(), SIGKILL), 0);
  while (Leakgate({"session", "query", session_}).exit_code == 0) {
  }
  program_.Keep(5, 50);

  const CommandResult list = Leakgate({"session", "list"});
  EXPECT_THAT(
      list.standard_output,
      HasSubstr("PID " + pid() + " (heap_on_request) is traced for an owner that has ended"));
  EXPECT_EQ(Leakgate({"session", "list", "--clear"}).exit_code, 0);
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, Not(HasSubstr("PID " + pid())));
  EXPECT_THAT(ReadFile("/proc/" + pid() + "/maps"), Not(HasSubstr("memfd:leakgate")));

  ASSERT_EQ(Start().exit_code, 0);
  program_.Keep(3, 30);
  EXPECT_EQ(Process()["live"]["blocks"], 3);
}

}  // namespace
}  // namespace leakgate::test
