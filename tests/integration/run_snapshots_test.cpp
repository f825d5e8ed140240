// `leakgate snapshot` from another shell, of what `leakgate run` traces meanwhile.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::json;

Json ShowJson(const std::string& path) {
  return Json::parse(Leakgate({"snapshot", "show", path, "--json"}).standard_output)["snapshot"];
}

CommandResult Take(pid_t pid, const std::string& path, const std::string& option = "") {
  std::vector<std::string> arguments = {"snapshot",          "take", "--pid",
                                        std::to_string(pid), "-o",   path};
  if (!option.empty()) arguments.push_back(option);
  return Leakgate(arguments);
}

std::string Text(pid_t pid) { return std::to_string(pid); }

class RunSnapshotsTest : public testing::Test {
 protected:
  // A name without an ending would be a directory's.
  std::string File(const std::string& name) const {
    const bool has_ending = name.find('.') != std::string::npos;
    return directory_.File(has_ending ? name : name + ".snapshot");
  }
  std::string pid() const { return Text(program_.pid()); }

  const TemporaryDirectory directory_;
  HeapOnRequest program_{HeapOnRequest::Run{}};
};

TEST_F(RunSnapshotsTest, HoldWhatIsLiveWhileTheRunGoesOn) {
  ASSERT_EQ(Take(program_.pid(), File("a")).exit_code, 0);
  program_.Keep(7, 100);
  program_.Drop(1);
  const CommandResult taken = Take(program_.pid(), File("b"));
  ASSERT_EQ(taken.exit_code, 0) << taken.standard_error;
  const Json diff =
      Json::parse(Leakgate({"snapshot", "diff", File("a"), File("b"), "--json"}).standard_output);
  EXPECT_EQ(diff["same_process"], true);
  EXPECT_EQ(diff["total"]["appeared"]["bytes"], 600);
  EXPECT_EQ(diff["total"]["appeared"]["blocks"], 6);
  EXPECT_EQ(ShowJson(File("b"))["image"], FixturePath("heap_on_request"));
  EXPECT_EQ(program_.End(), 0);
}

TEST_F(RunSnapshotsTest, AreOfOneMomentIfAsked) {
  program_.Keep(7, 100);
  for (int i = 0; i < 3; ++i) {
    const std::string file = File(std::to_string(i));
    const CommandResult taken = Take(program_.pid(), file, "--consistent");
    ASSERT_EQ(taken.exit_code, 0) << taken.standard_error;
    EXPECT_THAT(taken.standard_error, ContainsRegex("it was stopped for [0-9.]+ ms"));
    EXPECT_EQ(ShowJson(file)["state"], "stopped");
    program_.Keep(1, 1);  // it goes on
  }
  EXPECT_EQ(program_.End(), 0);
}

TEST_F(RunSnapshotsTest, AreTakenPeriodically) {
  const CommandResult periodic = Leakgate({"snapshot", "periodic", "--pid", pid(), "--every",
                                           "10ms", "--stop-after", "3", "-o", directory_.path()});
  EXPECT_EQ(periodic.exit_code, 0) << periodic.standard_error;
  EXPECT_EQ(ShowJson(File("heap_on_request-" + pid() + "-0003.snapshot"))["pid"], program_.pid());
}

TEST_F(RunSnapshotsTest, AreListedWithTheRun) {
  const std::string line = "PID " + pid() + " (heap_on_request), tracing, ";
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output,
              AllOf(HasSubstr(line),
                    HasSubstr(" live: of the run with PID " + Text(program_.run_pid()) + "\n")));
  const Json list = Json::parse(Leakgate({"session", "list", "--json"}).standard_output);
  Json found;
  for (const Json& run : list["runs"]) {
    if (run["pid"] == program_.run_pid()) found = run;
  }
  ASSERT_THAT(found["processes"], SizeIs(1));
  EXPECT_EQ(found["processes"][0]["pid"], program_.pid());
  EXPECT_EQ(found["processes"][0]["state"], "tracing");
  program_.End();
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, Not(HasSubstr(line)));
}

TEST_F(RunSnapshotsTest, AreEnabledAlreadyAndCannotBeDisabled) {
  EXPECT_EQ(Leakgate({"snapshot", "config", "--pid", pid(), "query"}).standard_output,
            "PID " + pid() + ": enabled, by the run with PID " + Text(program_.run_pid()) + "\n");
  const std::vector<std::vector<std::string>> commands = {
      {"snapshot", "config", "--pid", pid(), "disable"},
      {"snapshot", "config", "--pid", pid(), "enable"},
      {"session", "start", "run-snapshots-" + pid(), "--pid", pid()},
      {"session", "stop", pid()}};
  for (const auto& command : commands) {
    const CommandResult refused = Leakgate(command);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.standard_error,
              "leakgate: PID " + pid() + " is traced by the run with PID " +
                  Text(program_.run_pid()) +
                  " until it ends, and by no session; snapshots can be taken of it: leakgate "
                  "snapshot take --pid " +
                  pid() + "\n");
  }
  program_.Keep(1, 1);
  EXPECT_EQ(Take(program_.pid(), File("a")).exit_code, 0);
}

// Its parent may not have waited for it yet; then it can still be named.
auto NoneTraces(const std::string& pid) {
  const std::string none = "leakgate: no session and no run traces PID " + pid;
  return AnyOf(none + ", and there is no such process; see leakgate help troubleshooting\n",
               none + "; enable it: leakgate snapshot config --pid " + pid + " enable\n");
}

TEST_F(RunSnapshotsTest, AreNotToBeHadOnceTheRunHasEnded) {
  const std::string pid = this->pid();
  program_.End();
  const CommandResult taken = Leakgate({"snapshot", "take", "--pid", pid, "-o", File("a")});
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_THAT(taken.standard_error, NoneTraces(pid));
}

// However often it is asked while it ends, a snapshot is whole, or an error says why there is
// none.
TEST_F(RunSnapshotsTest, AreWholeOrRefusedWhileTheProgramEnds) {
  program_.Keep(1000, 10);
  const pid_t pid = program_.pid();
  std::thread end([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(program_.End(), 0);
  });
  CommandResult taken;
  for (int i = 0; taken.exit_code != 2; ++i) {
    ASSERT_LT(i, 1000);
    const std::string file = File(std::to_string(i));
    taken = Take(pid, file, i % 2 == 0 ? "--consistent" : "");
    if (taken.exit_code == 0) {
      EXPECT_GE(ShowJson(file)["live"]["blocks"], 1000);
    } else {
      EXPECT_THAT(taken.standard_error,
                  AnyOf(HasSubstr("no session and no run traces PID"), HasSubstr("has ended"),
                        HasSubstr("does not trace PID"), HasSubstr("broke off"),
                        HasSubstr("does not answer")));
      EXPECT_FALSE(std::filesystem::exists(file));
    }
  }
  end.join();
  EXPECT_THAT(taken.standard_error, NoneTraces(Text(pid)));
}

TEST_F(RunSnapshotsTest, LeaveNothingBehindWhereTheRunIsKilled) {
  const std::string name = "@leakgate-run-" + Text(static_cast<pid_t>(::geteuid())) + "-" +
                           Text(program_.run_pid()) + "-";
  EXPECT_THAT(ReadFile("/proc/net/unix"), HasSubstr(name));
  const std::string pid = this->pid();
  ASSERT_EQ(::kill(program_.run_pid(), SIGKILL), 0);
  program_.End();
  EXPECT_THAT(ReadFile("/proc/net/unix"), Not(HasSubstr(name)));
  EXPECT_THAT(Leakgate({"snapshot", "take", "--pid", pid, "-o", File("a")}).standard_error,
              NoneTraces(pid));
}

TEST_F(RunSnapshotsTest, AreTheRunsUsersAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  const PublicCopy copy;
  const CommandResult other = RunCommand({"setpriv", "--reuid=65534", "--clear-groups",
                                          copy.Leakgate(), "snapshot", "take", "--pid", pid()});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.standard_error, NoneTraces(pid()));
}

TEST_F(RunSnapshotsTest, SayThatTheRunDoesNotAnswer) {
  ASSERT_EQ(::kill(program_.run_pid(), SIGSTOP), 0);
  const CommandResult taken = Take(program_.pid(), File("a"));
  ASSERT_EQ(::kill(program_.run_pid(), SIGCONT), 0);
  EXPECT_EQ(taken.exit_code, 3);
  EXPECT_THAT(taken.standard_error,
              AllOf(HasSubstr("the run with PID " + Text(program_.run_pid()) + " does not answer"),
                    HasSubstr("has it ended, or been stopped?")));
}

TEST(RunSnapshotsOfChildrenTest, AreTakenOfThoseThatBudgetsName) {
  const TemporaryDirectory directory;
  const std::string budget =
      directory.Write("a.leakgate.json", R"({"component": "a", "processes": ["heap_on_request"]})");
  HeapOnRequest program(HeapOnRequest::Run{
      .options = {"--budgets", budget},
      .command = {"/bin/sh", "-c", FixturePath("heap_on_request") + "; exit $?"}});
  program.Keep(5, 50);
  for (const std::string& option : {std::string(), std::string("--consistent")}) {
    const std::string file = directory.File("a" + option + ".snapshot");
    const CommandResult taken = Take(program.pid(), file, option);
    ASSERT_EQ(taken.exit_code, 0) << taken.standard_error;
    EXPECT_EQ(ShowJson(file)["image"], FixturePath("heap_on_request"));
    EXPECT_GE(ShowJson(file)["live"]["bytes"], 250);
  }
  EXPECT_EQ(program.End(), 0);
}

// Verdicts and findings alone: times differ.
Json ResultOf(const GatedRun& run) {
  Json result = {{"exit_code", run.command.exit_code},
                 {"reasons", run.report["reasons"]},
                 {"drops", run.report["tracing"].value("drops", Json())}};
  for (const Json& window : run.report["windows"]) {
    Json findings = Json::array();
    for (const Json& finding : window.value("findings", Json::array())) {
      findings.push_back({finding["bytes"], finding["blocks"], finding.value("disposition", "")});
    }
    result["windows"].push_back({window["kind"], window["name"], window["verdict"], findings});
  }
  return result;
}

// A process that takes snapshots of whatever runs `image`, most of them consistent, one after
// the other, from construction to destruction.
class Taker {
 public:
  Taker(const std::string& image, const std::string& directory) : directory_(directory) {
    pid_ = ::fork();
    if (pid_ == 0) TakeForEver(image);
  }
  ~Taker() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;

  // So far.
  int Taken() const {
    int taken = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      taken += entry.path().extension() == ".snapshot";
    }
    return taken;
  }

  // What went wrong in listing; empty: nothing.
  std::string Problem() const {
    const std::string file = directory_ + "/problem";
    return std::filesystem::exists(file) ? ReadFile(file) : "";
  }

 private:
  void Note(const CommandResult& result) const {
    std::ofstream(directory_ + "/problem", std::ios::app)
        << "exit code " << result.exit_code << ", signal " << result.signal << ": "
        << result.standard_output << result.standard_error << "\n";
  }

  [[noreturn]] void TakeForEver(const std::string& image) const {
    for (int i = 0;; ++i) {
      const CommandResult list = Leakgate({"session", "list", "--json"});
      const Json runs = Json::parse(list.standard_output, nullptr, false);
      if (!runs.is_object()) Note(list);
      if (!runs.is_object()) continue;
      for (const Json& run : runs["runs"]) {
        for (const Json& process : run["processes"]) {
          if (process["path"] != image) continue;
          Take(process["pid"], directory_ + "/" + std::to_string(i) + ".snapshot",
               i % 3 == 0 ? "" : "--consistent");
        }
      }
    }
  }

  const std::string directory_;
  pid_t pid_ = -1;
};

// The run looks for lost blocks by the means by which a process is stopped for a snapshot.
TEST(RunSnapshotsOfTestsTest, ChangeNoVerdictAndNoFinding) {
  const std::vector<std::string> suite = {
      FixturePath("policy_listener"), "--gtest_brief=1", "--gtest_repeat=10",
      "--gtest_filter=Reach.LosesAChain:Reach.KeepsInAStaticLocal:Reach.KeepsOnAStack"};
  const std::vector<std::string> options = {"--confirm=off"};
  const Json expected = ResultOf(RunByDefault(suite, options));
  ASSERT_FALSE(expected["windows"].empty());

  const TemporaryDirectory directory;
  const Taker taker(suite[0], directory.path());
  for (int i = 0; i < 2 || (taker.Taken() < 5 && i < 60); ++i) {
    EXPECT_EQ(ResultOf(RunByDefault(suite, options)), expected);
  }
  EXPECT_GE(taker.Taken(), 5);
  EXPECT_EQ(taker.Problem(), "");
}

}  // namespace
}  // namespace leakgate::test
