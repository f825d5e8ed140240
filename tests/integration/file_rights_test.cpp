// Programs whose files give rights (set-uid, set-gid, capabilities): started below a run or a
// session, or running already, they keep their rights and are never traced, and that is told.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

struct Rights {
  const char* name;
  mode_t mode;             // of the file
  const char* capability;  // of the file; empty: none
  const char* what;        // the probe says of its rights by them
};

// All that an ordinary user starts.
class FileRightsTest : public testing::TestWithParam<Rights> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files rights";
    Give(probe_);
    Give(waiter_);
    alone_ = Run({probe_, "rights"}).standard_output;
    if (alone_.find(GetParam().what) == std::string::npos)
      GTEST_SKIP() << "they have no effect here";
  }

  static void Give(const std::string& file) {
    ::chmod(file.c_str(), GetParam().mode);
    if (*GetParam().capability == '\0') return;
    RunCommand({"/usr/sbin/setcap", GetParam().capability, file});
  }

  static CommandResult Run(const Command& command, const CommandOptions& options = {}) {
    Command as_user = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    as_user.insert(as_user.end(), command.begin(), command.end());
    return RunCommand(as_user, options);
  }

  Command RunOf(const Command& program, const Command& options = {}) const {
    Command command = {copy_.Leakgate(), "run"};
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("--");
    command.insert(command.end(), program.begin(), program.end());
    return command;
  }

  const PublicCopy copy_;
  const std::string probe_ = copy_.Add(FixturePath("launch_probe"));
  const std::string waiter_ = copy_.Add(FixturePath("heap_on_request"));
  std::string alone_;  // what the probe says without leakgate
};

TEST_P(FileRightsTest, AreRefusedByARun) {
  const CommandResult run = Run(RunOf({probe_, "rights"}));
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.standard_output, "");
  EXPECT_THAT(run.standard_error,
              HasSubstr("the dynamic linker ignores preloading for such files"));
}

TEST_P(FileRightsTest, AreKeptBelowARun) {
  const CommandResult run = Run(RunOf({"sh", "-c", probe_ + " rights; exit 5"}));
  EXPECT_EQ(run.standard_output, alone_);
  EXPECT_EQ(run.exit_code, 5) << run.standard_error;
}

TEST_P(FileRightsTest, AreToldWhereABudgetNamesTheProcess) {
  const TemporaryDirectory directory;
  const std::string budget =
      directory.Write("a.leakgate.json", R"({"component": "a", "processes": ["launch_probe"]})");
  ::chmod(directory.path().c_str(), 0755);
  const CommandResult run =
      Run(RunOf({"bash", "-c", probe_ + " rights; exit 0"}, {"--budgets", budget}));
  EXPECT_EQ(run.standard_output, alone_);
  EXPECT_EQ(run.exit_code, 3) << run.standard_error;
  EXPECT_THAT(run.standard_error,
              HasSubstr("the dynamic linker ignores preloading for such files"));
}

TEST_P(FileRightsTest, AreKeptBelowASession) {
  const std::string session = std::string("rights-") + GetParam().name;
  const CommandResult run = Run({copy_.Leakgate(), "session", "start", session, "--image",
                                 "launch_probe", "--", "sh", "-c", probe_ + " rights; true"});
  EXPECT_EQ(run.standard_output, alone_);
  const CommandResult query = Run({copy_.Leakgate(), "session", "query", session, "--json"});
  EXPECT_THAT(query.standard_output, Not(HasSubstr("\"tracing\"")));
  EXPECT_THAT(query.standard_output, Not(HasSubstr("\"ended\"")));
  Run({copy_.Leakgate(), "session", "stop", session});
}

// Root may trace it, and does not: the process has rights that its user has not.
TEST_P(FileRightsTest, AreNotAttachedTo) {
  RunningCommand waiter({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", waiter_});
  const std::string pid = std::to_string(waiter.pid());
  const auto maps = [&] { return ReadFile("/proc/" + pid + "/maps"); };
  // setpriv has a C library, too: the waiter is what comes after it.
  ASSERT_TRUE(ComesTrue([&] {
    const std::string now = maps();
    return now.find(waiter_) != std::string::npos && now.find("libc") != std::string::npos;
  }));
  const std::string session = "attach-" + pid;
  const Command start = {copy_.Leakgate(), "session", "start", session, "--pid", pid};
  const CommandResult by_root = RunCommand(start);
  EXPECT_EQ(by_root.exit_code, 3);
  EXPECT_THAT(by_root.standard_error, HasSubstr("such processes are never traced"));
  const CommandResult by_its_user = Run(start);
  EXPECT_NE(by_its_user.exit_code, 0);
  EXPECT_THAT(by_its_user.standard_error, HasSubstr("PID " + pid));
  EXPECT_THAT(maps(), Not(HasSubstr("leakgate_agent")));
}

INSTANTIATE_TEST_SUITE_P(, FileRightsTest,
                         testing::Values(Rights{"SetUid", 04755, "", "Uid:\t65534\t0\t"},
                                         Rights{"SetGid", 02755, "", "Gid:\t65534\t0\t"},
                                         Rights{"Capabilities", 0755, "cap_net_raw+ep",
                                                "CapEff:\t0000000000002000"}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace leakgate::test
