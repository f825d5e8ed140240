// Attached to and let go of time and again, a program works on, and grows in nothing.
//
// LEAKGATE_ATTACH_CYCLES says how often; 25 times, unless it does.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "runner/process/proc_files.h"
#include "tests/attach/attached_program.h"

namespace leakgate::test {
namespace {

int Cycles() {
  const char* const given = std::getenv("LEAKGATE_ATTACH_CYCLES");
  return given == nullptr ? 25 : std::atoi(given);
}

std::size_t Descriptors(int pid) {
  const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

long KilobytesOf(int pid, const char* field) { return std::stol(StatusField(pid, pid, field)); }

class CycleTest : public testing::TestWithParam<Carries> {};

TEST_P(CycleTest, WorksOnAndDoesNotGrow) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Ask("threads 3"), "ok");
  const int cycles = Cycles();
  std::size_t descriptors = 0;
  std::size_t mappings = 0;
  long private_kilobytes = 0;
  for (int i = 0; i < cycles; ++i) {
    ASSERT_EQ(program.Enable(), "") << i;
    ASSERT_EQ(program.Ask("malloc 7 2203"), "ok");
    ASSERT_EQ(program.BlocksOf(2203), 7U) << i;
    ASSERT_EQ(program.Ask("free"), "ok");
    ASSERT_EQ(program.BlocksOf(2203), 0U) << i;
    ASSERT_EQ(program.Disable(), "") << i;
    if (i != cycles / 5) continue;  // all that is made once is there
    descriptors = Descriptors(program.pid());
    mappings = ReadMaps(program.pid())->size();
    private_kilobytes = KilobytesOf(program.pid(), "RssAnon");
  }
  EXPECT_EQ(Descriptors(program.pid()), descriptors);
  EXPECT_LE(ReadMaps(program.pid())->size(), mappings + 8);  // stacks of threads come and go
  EXPECT_LE(KilobytesOf(program.pid(), "RssAnon"), private_kilobytes + 4096);
  RecordProperty("kilobytes_before", std::to_string(private_kilobytes));
  RecordProperty("kilobytes_after", std::to_string(KilobytesOf(program.pid(), "RssAnon")));
  EXPECT_EQ(program.Ask("join"), "right some wrong 0");
  program.Send("exit");
  EXPECT_EQ(program.WaitForEnd(), 0);
}

// Threads that come to their turn a few times a second are met in the middle of recording,
// and must come out of it.
TEST_P(CycleTest, IsNotRefusedOnABusyMachine) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Ask("hogs 4"), "ok");
  ASSERT_EQ(program.Ask("threads 3 nice"), "ok");
  const int cycles = Cycles() / 8;
  for (int i = 0; i < cycles; ++i) {
    ASSERT_EQ(program.Enable(), "") << i;
    ASSERT_EQ(program.Ask("malloc 7 2203"), "ok");
    ASSERT_EQ(program.BlocksOf(2203), 7U) << i;
    ASSERT_EQ(program.Ask("free"), "ok");
    ASSERT_EQ(program.Disable(), "") << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, CycleTest,
                         testing::Values(Carries::kNoAgent, Carries::kAgentThatStaysOff),
                         [](const auto& given) {
                           return given.param == Carries::kNoAgent ? "WithoutAgent" : "WithAgent";
                         });

// A runner of its own, in a process of its own: enables and disables until it is killed.
[[noreturn]] void AttachForEver(int pid) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::unique_ptr<RegionFile> region;
  const auto server = ControlServer::Start({.on_hello = [&](const ControlPeer& asking) {
    region = *RegionFile::Create({.pid = asking.pid});
    return HelloReply{.region_fd = region->fd().get()};
  }});
  for (;;) {
    (void)EnableRunning({.pid = pid, .control = (*server)->name(), .agent = AgentPath()});
    (void)DisableRunning(pid);
  }
}

// A runner that is killed half way, at any moment, takes no program with it.
TEST(KilledRunnerTest, LeavesTheProgramAtWork) {
  AttachedProgram program;
  ASSERT_EQ(program.Ask("threads 2"), "ok");
  const int rounds = Cycles() / 2;
  for (int i = 0; i < rounds; ++i) {
    const pid_t runner = ::fork();
    if (runner == 0) AttachForEver(program.pid());
    std::this_thread::sleep_for(std::chrono::microseconds(10'000 + i * 7919 % 100'000));
    ::kill(runner, SIGKILL);
    ::waitpid(runner, nullptr, 0);
    ASSERT_EQ(program.Ask("malloc 1 17"), "ok") << i;
  }
  EXPECT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("malloc 7 2203"), "ok");
  EXPECT_EQ(program.BlocksOf(2203), 7U);
  EXPECT_EQ(program.Ask("join"), "right some wrong 0");
  program.Send("exit");
  EXPECT_EQ(program.WaitForEnd(), 0);
}

}  // namespace
}  // namespace leakgate::test
