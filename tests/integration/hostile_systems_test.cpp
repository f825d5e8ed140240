// Systems that refuse what the runner or the agent asks for, as containers and old kernels do:
// a leak is found, or the run is inconclusive. It never passes, hangs or crashes.
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const Command& LeakingSuite() {
  static const Command gated =
      Gated({FixturePath("language_untouched"), "--gtest_filter=*SharedPointersInACycle*"},
            {"--timeout", "20", "--budgets",
             std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json"});
  return gated;
}

// One line that says why; the exit code is that of a leak, or of what could not be measured.
void ExpectFoundOrInconclusive(const CommandResult& run) {
  EXPECT_EQ(run.signal, 0) << run.standard_error;
  EXPECT_THAT(run.exit_code, AnyOf(1, 3)) << run.standard_error;
  EXPECT_NE(run.standard_error, "");
  EXPECT_THAT(run.standard_error, Not(HasSubstr("internal error")));
}

struct Call {
  const char* name;
  int number;
};

class SystemsWithoutACallTest : public testing::TestWithParam<Call> {
 protected:
  static CommandResult RunWithout(int error) {
    Command command = {FixturePath("hostile_without_call"), std::to_string(GetParam().number),
                       std::to_string(error)};
    command.insert(command.end(), LeakingSuite().begin(), LeakingSuite().end());
    return RunCommand(command);
  }
};

TEST_P(SystemsWithoutACallTest, FindsTheLeakOrSaysWhyNot) {
  ExpectFoundOrInconclusive(RunWithout(EPERM));
  ExpectFoundOrInconclusive(RunWithout(ENOSYS));
}

#define LEAKGATE_CALL(name) \
  Call { #name, SYS_##name }
INSTANTIATE_TEST_SUITE_P(
    , SystemsWithoutACallTest,
    testing::Values(LEAKGATE_CALL(memfd_create), LEAKGATE_CALL(ptrace), LEAKGATE_CALL(pidfd_open),
                    LEAKGATE_CALL(socket), LEAKGATE_CALL(bind), LEAKGATE_CALL(listen),
                    LEAKGATE_CALL(connect), LEAKGATE_CALL(accept4), LEAKGATE_CALL(sendmsg),
                    LEAKGATE_CALL(recvmsg), LEAKGATE_CALL(getsockopt), LEAKGATE_CALL(ppoll),
                    LEAKGATE_CALL(process_vm_readv), LEAKGATE_CALL(close_range),
                    LEAKGATE_CALL(prctl), LEAKGATE_CALL(mremap), LEAKGATE_CALL(mincore),
                    LEAKGATE_CALL(madvise), LEAKGATE_CALL(fcntl), LEAKGATE_CALL(ftruncate),
                    LEAKGATE_CALL(eventfd2), LEAKGATE_CALL(timerfd_create),
                    LEAKGATE_CALL(epoll_create1), LEAKGATE_CALL(waitid), LEAKGATE_CALL(wait4),
                    LEAKGATE_CALL(getrandom), LEAKGATE_CALL(readlinkat), LEAKGATE_CALL(statx),
                    LEAKGATE_CALL(lseek), LEAKGATE_CALL(pipe2), LEAKGATE_CALL(dup3),
                    LEAKGATE_CALL(setpgid), LEAKGATE_CALL(rt_sigtimedwait), LEAKGATE_CALL(clone),
                    LEAKGATE_CALL(clone3), LEAKGATE_CALL(prlimit64), LEAKGATE_CALL(getdents64),
                    LEAKGATE_CALL(kill), LEAKGATE_CALL(tgkill), LEAKGATE_CALL(futex),
                    LEAKGATE_CALL(pidfd_send_signal)),
    [](const auto& test) { return std::string(test.param.name); });

// What threads, signals and the search for processes need. A command ends as it does everywhere, or
// with a reason.
class SystemsWithoutSignalsTest : public SystemsWithoutACallTest {};

TEST_P(SystemsWithoutSignalsTest, EndsEveryCommandThatStartsAProgram) {
  const TemporaryDirectory directory;
  const std::string suite = FixturePath("language_untouched");
  const std::string filter = "--gtest_filter=*SharedPointersInACycle*";
  for (const Command& arguments :
       {Command{"record", "-o", directory.File("a.recording"), "--", suite, filter},
        Command{"doctor", suite},
        Command{"budget", "init", "--component", "a", "-o", directory.File("a.leakgate.json"), "--",
                suite, filter},
        Command{"run", "--timeout", "2", "--", "sleep", "1000"}}) {
    for (const int error : {EPERM, ENOSYS}) {
      Command command = {FixturePath("hostile_without_call"), std::to_string(GetParam().number),
                         std::to_string(error), LeakgatePath()};
      command.insert(command.end(), arguments.begin(), arguments.end());
      const CommandResult run = RunCommand(command);
      SCOPED_TRACE(testing::PrintToString(arguments) + run.standard_error);
      EXPECT_EQ(run.signal, 0);
      EXPECT_THAT(run.exit_code, AnyOf(0, 1, 2, 3));
      EXPECT_THAT(run.standard_error, Not(HasSubstr("internal error")));
      EXPECT_NE(run.standard_output + run.standard_error, "");
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, SystemsWithoutSignalsTest,
                         testing::Values(LEAKGATE_CALL(kill), LEAKGATE_CALL(tgkill),
                                         LEAKGATE_CALL(futex), LEAKGATE_CALL(getdents64)),
                         [](const auto& test) { return std::string(test.param.name); });

// Calls that not every processor has.
#ifdef SYS_poll
INSTANTIATE_TEST_SUITE_P(Older, SystemsWithoutACallTest,
                         testing::Values(LEAKGATE_CALL(poll), LEAKGATE_CALL(readlink),
                                         LEAKGATE_CALL(dup2)),
                         [](const auto& test) { return std::string(test.param.name); });
#endif

// A pending accept of a process is let go, so it does not wait for ever.
TEST(SystemsTest, NamesWhatKeepsItFromAnswering) {
  Command command = {FixturePath("hostile_without_call"), std::to_string(SYS_accept4),
                     std::to_string(EMFILE)};
  command.insert(command.end(), LeakingSuite().begin(), LeakingSuite().end());
  const CommandResult run = RunCommand(command);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.standard_error, HasSubstr("cannot answer it: Too many open files"));
}

// Each command of the command line's definition: all but those that only print a text.
TEST(SystemsTest, NamesProcWhereItIsNotMounted) {
  const auto without_proc = [](const std::string& how, const Command& arguments) {
    Command command = {"unshare", "--mount", "bash", "-c", how + " && exec \"$@\"", "bash"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return RunCommand(command);
  };
  const std::string hidden = "mount -t tmpfs none /proc";
  if (without_proc(hidden, {"true"}).exit_code != 0) GTEST_SKIP() << "nothing can be mounted here";
  const std::string file =
      std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json";
  std::vector<Command> commands = {LeakingSuite()};
  for (const Command& arguments : {Command{"doctor", "true"},
                                   Command{"record", "-o", "/tmp/none", "--", "true"},
                                   Command{"adopt", "--", "true"},
                                   Command{"explain", "A.B"},
                                   Command{"merge", file},
                                   Command{"budget", "check", file},
                                   Command{"budget", "ratchet", "--budgets", file, "--", "true"},
                                   Command{"budget", "init", "--component", "a", "--", "true"},
                                   Command{"history", "add", "/tmp/none.history", file},
                                   Command{"history", "show", "/tmp/none.history"},
                                   Command{"session", "start", "a", "--image", "a"},
                                   Command{"session", "list"},
                                   Command{"session", "exec", "a", "--", "true"},
                                   Command{"session", "query", "a"},
                                   Command{"session", "stop", "a"},
                                   Command{"session", "unit", "a", "--image", "a"},
                                   Command{"session", "update", "a", "--add-image", "a"},
                                   Command{"snapshot", "take", "--pid", "1"},
                                   Command{"snapshot", "config", "--pid", "1", "query"},
                                   Command{"snapshot", "show", file},
                                   Command{"snapshot", "diff", file, file},
                                   Command{"snapshot", "export", file, "--format", "folded"},
                                   Command{"recording", "show", file},
                                   Command{"recording", "stop", "--pid", "1"},
                                   Command{"top", "1"}}) {
    commands.push_back({LeakgatePath()});
    commands.back().insert(commands.back().end(), arguments.begin(), arguments.end());
  }
  for (const std::string& how : {hidden, std::string("umount -l /proc")}) {
    for (const Command& command : commands) {
      const CommandResult run = without_proc(how, command);
      SCOPED_TRACE(testing::PrintToString(command) + run.standard_error);
      EXPECT_EQ(run.exit_code, 3);
      EXPECT_THAT(run.standard_error, HasSubstr("leakgate: /proc is not mounted"));
    }
    EXPECT_EQ(without_proc(how, {LeakgatePath(), "man", "run"}).exit_code, 0);
  }
}

// Of another user than root, whom that limit does not bind.
TEST(SystemsTest, NamesTheLimitOnProcesses) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  const PublicCopy copy;
  const TemporaryDirectory directory;
  fs::permissions(directory.path(), fs::perms::all);
  const std::string suite = copy.Add(FixturePath("language_untouched"));
  for (int processes = 0; processes <= 8; ++processes) {
    // A user whom nobody else is.
    Command command = {"setpriv",
                       "--reuid=64123",
                       "--clear-groups",
                       "prlimit",
                       "--nproc=" + std::to_string(processes),
                       PublicCopy::Leakgate()};
    for (const Command& arguments :
         {Command{"run", "--", suite, "--gtest_filter=*SharedPointersInACycle*"},
          Command{"doctor", suite},
          Command{"record", "-o", directory.File(std::to_string(processes)), "--", suite}}) {
      Command whole = command;
      whole.insert(whole.end(), arguments.begin(), arguments.end());
      const CommandResult run = RunCommand(whole, {.directory = "/"});
      SCOPED_TRACE(testing::PrintToString(whole) + run.standard_error);
      EXPECT_EQ(run.signal, 0);
      EXPECT_THAT(run.exit_code, AnyOf(0, 1, 3));
      EXPECT_THAT(run.standard_error, Not(HasSubstr("internal error")));
      if (run.exit_code == 3) {
        EXPECT_NE(run.standard_output + run.standard_error, "");
      }
    }
  }
}

class SystemsShortOfMemoryTest : public testing::TestWithParam<int> {};

// From less than the runner needs to load, up to enough, in KiB of address space.
TEST_P(SystemsShortOfMemoryTest, FindsTheLeakOrSaysWhyNot) {
  const CommandResult run =
      RunCommand(Behind("ulimit -v " + std::to_string(GetParam()), LeakingSuite()));
  ExpectFoundOrInconclusive(run);
}
INSTANTIATE_TEST_SUITE_P(, SystemsShortOfMemoryTest,
                         testing::Values(40'000, 60'000, 80'000, 120'000, 160'000, 200'000, 300'000,
                                         400'000, 500'000, 600'000, 800'000, 1'000'000, 1'200'000,
                                         1'500'000, 2'000'000, 3'000'000, 4'000'000));

class SystemsShortOfDescriptorsTest : public testing::TestWithParam<int> {};

TEST_P(SystemsShortOfDescriptorsTest, FindsTheLeakOrSaysWhyNot) {
  ExpectFoundOrInconclusive(
      RunCommand(Behind("ulimit -n " + std::to_string(GetParam()), LeakingSuite())));
}
INSTANTIATE_TEST_SUITE_P(, SystemsShortOfDescriptorsTest, testing::Range(7, 32));

}  // namespace
}  // namespace leakgate::test
