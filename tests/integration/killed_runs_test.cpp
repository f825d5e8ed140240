// kill -9 at random moments, and at each step of writing: a report is as it was before or
// whole, nothing is left behind, and the next run works. LEAKGATE_KILLS: how often each.
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <random>

#include "tests/integration/launch_commands.h"
#include "tests/support/html_page.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;
using testing::AnyOf;
using testing::IsEmpty;

constexpr char kOld[] = "what an earlier run has written\n";
const char* const kFormats[] = {"json", "junit", "sarif", "html", "pprof", "speedscope"};

int Rounds() {
  const char* const rounds = std::getenv("LEAKGATE_KILLS");
  return rounds == nullptr ? 6 : std::atoi(rounds);
}

bool IsWhole(const std::string& format, const std::string& path) {
  if (format == "junit") return RunCommand({"xmllint", "--noout", path}).exit_code == 0;
  const std::string text = ReadFile(path);
  if (format == "pprof") {
    return RunCommand({"gzip", "--test"}, {.standard_input = text}).exit_code == 0;
  }
  if (format != "html") return !Json::parse(text, nullptr, false).is_discarded();
  return text.find("</html>") != std::string::npos && ReportInPage(text).is_object();
}

// What a run of a suite that leaks has written, and where.
class KilledRunsTest : public testing::Test {
 protected:
  KilledRunsTest() {
    fs::create_directory(directory_.File("temporary"));
    fs::create_directory(directory_.File("snapshots"));
  }

  Command Suite() const {
    Command options = {"--budgets",
                       std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json",
                       "--snapshots", directory_.File("snapshots"), "--when=every"};
    for (const std::string format : kFormats) {
      options.insert(options.end(), {"--report", format + "=" + directory_.File(format)});
    }
    return Behind(
        "exec > /dev/null 2>&1; export TMPDIR=" + directory_.File("temporary"),
        Gated({program_, "--gtest_brief=1", "--gtest_filter=*Shared*:*Exceptions*"}, options));
  }

  void WriteOldReports() const {
    for (const char* const format : kFormats) directory_.Write(format, kOld);
  }
  void RemoveSnapshots() const {
    for (const auto& file : fs::directory_iterator(directory_.File("snapshots"))) {
      fs::remove(file);
    }
  }

  int CountWhole() const {
    int whole = 0;
    for (const char* const format : kFormats) {
      const std::string path = directory_.File(format);
      if (ReadFile(path) == kOld) continue;
      EXPECT_TRUE(IsWhole(format, path)) << format << ": " << ReadFile(path).size() << " bytes";
      ++whole;
    }
    return whole;
  }

  void ExpectWholeSnapshots() const {
    for (const auto& file : fs::directory_iterator(directory_.File("snapshots"))) {
      EXPECT_EQ(file.path().extension(), ".snapshot") << file.path();
      EXPECT_EQ(Leakgate({"snapshot", "show", file.path()}).exit_code, 0) << file.path();
    }
  }

  // Nothing but what was asked for.
  std::vector<std::string> LeftBehind() const {
    std::vector<std::string> left;
    for (const auto& file : fs::directory_iterator(directory_.path())) {
      const std::string name = file.path().filename();
      const bool is_report =
          std::find(std::begin(kFormats), std::end(kFormats), name) != std::end(kFormats);
      if (!is_report && name != "temporary" && name != "snapshots") left.push_back(name);
    }
    for (const auto& file : fs::directory_iterator(directory_.File("temporary"))) {
      left.push_back(file.path());
    }
    return left;
  }

  // The same, once; but for what is about to replace a report.
  std::vector<std::string> LeftBehindByRename() {
    std::vector<std::string> left = LeftBehind();
    for (const std::string& name : left) {
      EXPECT_THAT(name, testing::MatchesRegex("\\.leakgate-[0-9a-f]*\\.tmp"));
      fs::remove(directory_.File(name));
    }
    return left;
  }

  void ExpectThatTheNextRunWorks() const {
    const CommandResult next = RunCommand(Suite());
    EXPECT_EQ(next.exit_code, 1);
    EXPECT_EQ(CountWhole(), std::ssize(kFormats));
    EXPECT_THAT(LeftBehind(), IsEmpty());
  }

  const std::string program_ = FixturePath("language_untouched");
  const TemporaryDirectory directory_;
};

std::vector<pid_t> ProcessesOf(pid_t group) {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && ::getpgid(pid) == group && !IsGone(pid)) pids.push_back(pid);
  }
  return pids;
}

bool EndsSoon(pid_t group) {
  return ComesTrue([&] { return ProcessesOf(group).empty(); });
}

void KillPrograms(pid_t group, const std::string& image) {
  for (const pid_t pid : ProcessesOf(group)) {
    std::error_code gone;
    if (fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone) == image) {
      ::kill(pid, SIGKILL);
    }
  }
}

struct Victim {
  const char* name;
  std::function<void(pid_t runner, const std::string& image)> kill;
  bool is_runner;  // too
};

class KilledAtRandomTest : public KilledRunsTest, public testing::WithParamInterface<Victim> {
 protected:
  std::chrono::microseconds TimeOfOne() const {
    const auto begin = Clock::now();
    EXPECT_EQ(RunCommand(Suite()).exit_code, 1);
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  }
};

TEST_P(KilledAtRandomTest, LeavesWholeReportsAndNothingElse) {
  const std::chrono::microseconds whole = TimeOfOne();
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < Rounds(); ++round) {
    WriteOldReports();
    RemoveSnapshots();
    RunningCommand run(Suite());
    const auto delay = std::chrono::microseconds(random() % static_cast<unsigned>(whole.count()));
    SCOPED_TRACE("killed after " + std::to_string(delay.count()) + " us");
    std::this_thread::sleep_for(delay);
    GetParam().kill(run.pid(), program_);
    const int code = run.WaitForShellCode();
    // Ended before; killed, or its program was; that was killed before it began.
    EXPECT_THAT(code, AnyOf(1, 137, 3));
    EXPECT_TRUE(EndsSoon(run.pid()));
    const int written = CountWhole();
    const bool writes_all = !GetParam().is_runner && code != 3;
    EXPECT_GE(written, writes_all ? std::ssize(kFormats) : 0);
    ExpectWholeSnapshots();
    EXPECT_LE(std::ssize(LeftBehindByRename()), GetParam().is_runner ? 1 : 0);
  }
  ExpectThatTheNextRunWorks();
}

INSTANTIATE_TEST_SUITE_P(
    , KilledAtRandomTest,
    testing::Values(
        Victim{"Program", KillPrograms, false},
        Victim{"Runner", [](pid_t runner, const std::string&) { ::kill(runner, SIGKILL); }, true},
        Victim{"Both",
               [](pid_t runner, const std::string& image) {
                 KillPrograms(runner, image);
                 ::kill(runner, SIGKILL);
               },
               true},
        Victim{"Group", [](pid_t runner, const std::string&) { ::kill(-runner, SIGKILL); }, true}),
    [](const auto& test) { return std::string(test.param.name); });

// At its Nth such call, until it ends before: strace has the kernel do it.
struct Moment {
  const char* call;
  std::ptrdiff_t most_left;  // of files with names of their own, each time
};

class KilledAtACallTest : public KilledRunsTest, public testing::WithParamInterface<Moment> {};

TEST_P(KilledAtACallTest, LeavesWholeReportsAndNothingElse) {
  if (RunCommand({"strace", "-e", "trace=none", "true"}).exit_code != 0) {
    GTEST_SKIP() << "nothing can be traced by strace here";
  }
  const std::string call = GetParam().call;
  int times = 0;
  for (int when = 1;; when += 1 + when / 6) {
    SCOPED_TRACE(call + " number " + std::to_string(when));
    WriteOldReports();
    RemoveSnapshots();
    Command command = {"strace",
                       "-o",
                       "/dev/null",
                       "-e",
                       "trace=" + call,
                       "-e",
                       "inject=" + call + ":signal=KILL:when=" + std::to_string(when)};
    const Command suite = Suite();
    command.insert(command.end(), suite.begin(), suite.end());
    RunningCommand run(command);
    const int code = run.WaitForShellCode();
    EXPECT_TRUE(EndsSoon(run.pid()));
    CountWhole();
    EXPECT_LE(std::ssize(LeftBehindByRename()), GetParam().most_left);
    if (code != 137) break;
    ++times;
  }
  EXPECT_GE(times, 5);  // reports at least
  ExpectThatTheNextRunWorks();
}

// What replaces a file has a name of its own for a moment; it is whole by then.
INSTANTIATE_TEST_SUITE_P(, KilledAtACallTest,
                         testing::Values(Moment{"write", 0}, Moment{"linkat", 0},
                                         Moment{"renameat", 1}),
                         [](const auto& test) { return std::string(test.param.call); });

}  // namespace
}  // namespace leakgate::test
