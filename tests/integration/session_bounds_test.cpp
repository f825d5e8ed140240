// What a session's owner holds, and how long it waits, whatever its processes and strangers do: the
// memory of ended processes, arguments, connections; a moment without threads or descriptors; and
// process numbers that are given again at once.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "tests/integration/launch_commands.h"
#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kPythonProgram = "/usr/bin/python3";
const Command kAsNobody = {"setpriv", "--reuid=65534", "--clear-groups"};

Command Joined(Command first, const Command& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

class SessionBoundsTest : public testing::Test {
 protected:
  ~SessionBoundsTest() override { Leakgate({"session", "stop", name_}); }

  void Start(const std::vector<std::string>& options) const {
    const CommandResult started = Leakgate(Joined({"session", "start", name_}, options));
    ASSERT_EQ(started.exit_code, 0) << started.standard_error;
  }
  CommandResult Exec(const Command& program) const {
    return Leakgate(Joined({"session", "exec", name_, "--"}, program));
  }
  std::string QueryText() const { return Leakgate({"session", "query", name_}).standard_output; }
  Json Query() const {
    return Json::parse(Leakgate({"session", "query", name_, "--json"}).standard_output);
  }
  std::vector<Json> Processes(const std::string& state) const {
    std::vector<Json> found;
    const Json session = Query();
    for (const Json& process : session["processes"]) {
      if (process["state"] == state) found.push_back(process);
    }
    return found;
  }
  pid_t Owner() const { return Query()["owner_pid"].get<int>(); }
  // The value of LEAKGATE_CONTROL below the session.
  std::string Control() const {
    const std::string environment = Exec({"env"}).standard_output;
    const std::string variable = "LEAKGATE_CONTROL=";
    const std::size_t at = environment.find(variable) + variable.size();
    return environment.substr(at, environment.find('\n', at) - at);
  }
  std::string Program() const {
    const std::string path = directory_.File(image_);
    if (!fs::exists(path)) fs::copy_file("/bin/true", path);
    fs::permissions(directory_.path(), fs::perms(0755));
    return path;
  }

  const TemporaryDirectory directory_;
  const std::string image_ = "bounds" + std::to_string(::getpid());
  const std::string name_ = image_ + "-session";
};

// The memory of all regions that the process has open, as the kernel tells it.
std::uint64_t RegionBytesOf(pid_t pid) {
  std::uint64_t bytes = 0;
  std::set<ino_t> seen;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    struct stat facts {};
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    if (!target.starts_with("/memfd:leakgate ")) continue;
    if (::stat(entry.path().c_str(), &facts) != 0 || !seen.insert(facts.st_ino).second) continue;
    bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
  }
  return bytes;
}

std::uint64_t ResidentBytesOf(pid_t pid) {
  const std::string status = ReadFile("/proc/" + std::to_string(pid) + "/status");
  return std::stoull(status.substr(status.find("RssAnon:") + 8)) << 10;
}

// A program that has its region take so many more MiB, as one with a large heap does.
Command Filling(int mebibytes, const std::string& first = "") {
  const std::string script =
      "import ctypes, os, re, time\n"
      "libc = ctypes.CDLL(None)\n"
      "size = " +
      std::to_string(mebibytes) +
      " << 20\n"
      "spans = [[int(x, 16) for x in re.match('([0-9a-f]+)-([0-9a-f]+) rw', line).groups()]\n"
      "         for line in open('/proc/self/maps') if 'memfd:leakgate' in line and ' rw' in "
      "line]\n"
      "begin, end = max(spans, key=lambda span: span[1] - span[0])\n" +
      first + "libc.memset(ctypes.c_void_p(end - size), 0, ctypes.c_size_t(size))\n";
  return {kPythonProgram, "-c", script};
}

TEST_F(SessionBoundsTest, OfMemoryHoldForEndedProcessesTogether) {
  Start({"--image", "python3*"});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Exec(Filling(100)).exit_code, 0);
  EXPECT_TRUE(ComesTrue([&] { return Query()["forgotten"] != 0; }));
  const Json session = Query();
  const std::uint64_t held = RegionBytesOf(Owner());
  EXPECT_GT(held, std::uint64_t{1} << 20);
  EXPECT_LE(held, std::uint64_t{512} << 20);
  EXPECT_EQ(session["kept_bytes"], held);
  EXPECT_LE(session["kept_bytes"], session["most_kept_bytes"]);
  EXPECT_EQ(session["forgotten"].get<std::size_t>() + session["processes"].size(), 8U);
  EXPECT_THAT(QueryText(),
              testing::ContainsRegex("processes that ended earlier are not kept: 256 "
                                     "may be, in .* of memory; take snapshots sooner"));
}

// Who keeps a mapping of the region fills it once the process has ended.
TEST_F(SessionBoundsTest, OfMemoryHoldAlsoForWhatIsFilledLater) {
  Start({"--image", "python3*"});
  const std::string by_a_child =
      "libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), 11)\n"  // MADV_DOFORK
      "if os.fork(): os._exit(0)\n"
      "os.close(0); os.close(1); os.close(2)\n"
      "time.sleep(1)\n";
  EXPECT_EQ(Exec(Filling(700, by_a_child)).exit_code, 0);
  EXPECT_TRUE(ComesTrue([&] { return Query()["forgotten"] == 1; }));
  EXPECT_EQ(RegionBytesOf(Owner()), 0U);
}

TEST_F(SessionBoundsTest, OfMemoryLetNobodyLoseByWhatAnotherUserRuns) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  Start({"--image", "python3*", "--user", "nobody"});
  EXPECT_EQ(Exec({kPythonProgram, "-c", "0"}).exit_code, 0);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Exec(Joined(kAsNobody, Filling(100))).exit_code, 0);
  EXPECT_TRUE(ComesTrue([&] { return Query()["forgotten"] != 0; }));
  const Json processes = Query()["processes"];
  ASSERT_THAT(processes, testing::Not(IsEmpty()));
  EXPECT_EQ(processes[0]["arguments"], Json({kPythonProgram, "-c", "0"}));
}

TEST_F(SessionBoundsTest, OfArgumentsAreToldAsCut) {
  Start({"--image", image_});
  const std::uint64_t before = ResidentBytesOf(Owner());
  const std::string script =
      "import subprocess\n"
      "for i in range(40):\n"
      "  subprocess.run(["
      "'" +
      Program() +
      "'] + ['x'] * 150000)\n"
      "subprocess.run(['" +
      Program() + "', 'y' * 100000, 'z'])\n";
  EXPECT_EQ(Exec({kPythonProgram, "-c", script}).exit_code, 0);
  const CommandResult query = Leakgate({"session", "query", name_, "--json"});
  ASSERT_EQ(query.exit_code, 0) << query.standard_error;
  EXPECT_LE(query.standard_output.size(), std::size_t{4} << 20);
  const Json processes = Json::parse(query.standard_output)["processes"];
  ASSERT_THAT(processes, SizeIs(41));
  EXPECT_THAT(processes[0]["arguments"], SizeIs(33));
  EXPECT_EQ(processes[0]["arguments"][31], "x");
  EXPECT_EQ(processes[0]["arguments"][32], "...");
  ASSERT_THAT(processes[40]["arguments"], SizeIs(3));
  EXPECT_THAT(processes[40]["arguments"][1].get<std::string>(),
              AllOf(SizeIs(Le(4200)), testing::EndsWith("y...")));
  EXPECT_EQ(processes[40]["arguments"][2], "...");
  EXPECT_LE(ResidentBytesOf(Owner()), before + (std::uint64_t{64} << 20));
}

// An owner that has no threads or descriptors for a moment: one process is untraced, the next not.
// It is of a user whose limit on processes holds, which root's does not.
class ShortOwnersTest : public SessionBoundsTest {
 protected:
  ~ShortOwnersTest() override { RunCommand(AsUser({copy_.Leakgate(), "session", "stop", name_})); }

  static Command AsUser(const Command& command) {
    return ::geteuid() == 0 ? Joined(kAsNobody, command) : command;
  }
  Json Query() const {
    return Json::parse(RunCommand(AsUser({copy_.Leakgate(), "session", "query", name_, "--json"}))
                           .standard_output);
  }
  // Of the owner: sets the limit called `name`, as prlimit knows it; returns what it was.
  static std::string Limit(pid_t owner, const std::string& name, const std::string& value) {
    const std::string pid = std::to_string(owner);
    const CommandResult was =
        RunCommand(AsUser({"prlimit", "--pid", pid, "--" + name, "-o", "SOFT", "--noheadings"}));
    const CommandResult set =
        RunCommand(AsUser({"prlimit", "--pid", pid, "--" + name + "=" + value + ":"}));
    EXPECT_EQ(set.exit_code, 0) << set.standard_error;
    return was.standard_output.substr(0, was.standard_output.find_first_of(" \n"));
  }
  Command Below(const Command& command) const {
    return AsUser(Joined({copy_.Leakgate(), "session", "exec", name_, "--"}, command));
  }

  // Starts a wanted program while the owner's limit is `least`, which it is for `long_enough` at
  // least or until the program has ended, and one afterwards. Returns the session's processes.
  Json StartWithin(const std::string& limit, const std::string& least,
                   std::optional<std::chrono::seconds> long_enough) {
    const std::string program = copy_.Add(Program());
    EXPECT_EQ(RunCommand(AsUser({copy_.Leakgate(), "session", "start", name_, "--image", image_}))
                  .exit_code,
              0);
    const pid_t owner = Query()["owner_pid"].get<int>();
    {
      RunningCommand shell(
          Below({"bash", "-c", "echo waits .; read; " + program + "; echo ran $?"}));
      shell.WaitFor("waits");
      const std::string usual = Limit(owner, limit, least);
      shell.EndInput();
      if (long_enough) {
        std::this_thread::sleep_for(*long_enough);
        Limit(owner, limit, usual);
      }
      EXPECT_EQ(shell.WaitFor("ran"), "0");
      Limit(owner, limit, usual);
    }
    EXPECT_EQ(RunCommand(Below({program})).exit_code, 0);
    return Query()["processes"];
  }

  const PublicCopy copy_;
};

TEST_F(ShortOwnersTest, OfThreadsGoOnAndTellOfWhoWasNotTraced) {
  const Json processes = StartWithin("nproc", "1", std::nullopt);
  ASSERT_THAT(processes, SizeIs(2)) << processes;
  EXPECT_EQ(processes[0]["state"], "ended") << processes;
  ASSERT_EQ(processes[1]["state"], "failed") << processes;
  EXPECT_THAT(processes[1]["problem"].get<std::string>(),
              AllOf(HasSubstr("it is not traced: the session's owner has no room for it: "),
                    HasSubstr("; raise the limits on memory and processes (ulimit -v, -u)")));
}

// Not one can be accepted: it waits, and is traced.
TEST_F(ShortOwnersTest, OfDescriptorsGoOn) {
  const Json processes = StartWithin("nofile", "3", std::chrono::seconds(1));
  ASSERT_THAT(processes, SizeIs(2)) << processes;
  EXPECT_EQ(processes[0]["state"], "ended") << processes;
  EXPECT_EQ(processes[1]["state"], "ended") << processes;
}

// In a name space with few process numbers, which come again at once.
class ReusedPidsTest : public SessionBoundsTest {
 protected:
  // Runs `script` as a shell that has the commands `traced COUNT` and `leakgate`. Returns false,
  // and the test is skipped, where there is no such name space.
  bool RunScript(const std::string& script) {
    const Command in_name_space = {"unshare", "-pf", "--mount-proc", "bash", "-c"};
    const std::string few =
        "echo 360 > /proc/sys/kernel/pid_max && echo 300 > /proc/sys/kernel/ns_last_pid || exit "
        "77\n";
    if (RunCommand(Joined(in_name_space, {few + "exit 0"})).exit_code != 0) return false;
    result_ = RunCommand(
        Joined(in_name_space, {few +
                               "traced() { \"$LEAKGATE\" session exec $SESSION -- bash -c "
                               "'for i in $(seq $1); do \"$0\"; done' $PROGRAM $1; }\n" +
                               script}),
        {.environment = {"LEAKGATE=" + LeakgatePath(), "SESSION=" + name_, "PROGRAM=" + Program(),
                         "IMAGE=" + image_},
         .directory = directory_.path()});
    return true;
  }
  std::size_t CountFiles(const std::string& directory) const {
    const fs::directory_iterator files(directory_.File(directory));
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

  CommandResult result_;
};

TEST_F(ReusedPidsTest, LoseNoLastSnapshot) {
  if (!RunScript(R"sh(
"$LEAKGATE" session start $SESSION --image $IMAGE --snapshots ring --every 1h --keep 10000
traced 400
"$LEAKGATE" session query $SESSION --json > query.json
"$LEAKGATE" session stop $SESSION
)sh")) {
    GTEST_SKIP() << "no name space of few process numbers can be made here";
  }
  EXPECT_EQ(CountFiles("ring"), 400U) << result_.standard_error;
  const Json session = Json::parse(ReadFile(directory_.File("query.json")));
  EXPECT_EQ(session["untraced"], 0);
  EXPECT_EQ(session["snapshots"]["problem"], "");
  std::set<int> pids;
  for (const Json& process : session["processes"]) pids.insert(process["pid"].get<int>());
  EXPECT_LT(pids.size(), 100U);  // they have come again
}

TEST_F(ReusedPidsTest, LoseNoRecording) {
  fs::create_directory(directory_.File("recordings"));
  for (int pid = 300; pid < 310; ++pid) {  // an earlier session's
    directory_.Write("recordings/" + image_ + "-" + std::to_string(pid) + ".recording", "earlier");
  }
  if (!RunScript(R"sh(
"$LEAKGATE" session start $SESSION --image $IMAGE --record recordings
traced 300
"$LEAKGATE" session query $SESSION --json > query.json
"$LEAKGATE" session stop $SESSION
)sh")) {
    GTEST_SKIP() << "no name space of few process numbers can be made here";
  }
  EXPECT_EQ(CountFiles("recordings"), 310U) << result_.standard_error;
  const Json session = Json::parse(ReadFile(directory_.File("query.json")));
  EXPECT_EQ(session["untraced"], 0);
  EXPECT_EQ(ReadFile(directory_.File("recordings/" + image_ + "-305.recording")), "earlier");
}

// Who connects to a session's control socket, and says nothing.
class SilentConnectionsTest : public SessionBoundsTest {
 protected:
  // Connects as often as it gets through, and again when it is turned away, until its input ends.
  static Command Silent(const std::string& control, int processes) {
    const std::string script =
        "import os, select, socket, sys\n"
        "for i in range(" +
        std::to_string(processes - 1) +
        "):\n"
        "  if os.fork() == 0: break\n"
        "held = []\n"
        "def more():\n"
        "  s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "  s.settimeout(0.05)\n"
        "  try: s.connect(chr(0) + '" +
        control +
        "')\n"
        "  except OSError: return\n"
        "  held.append(s)\n"
        "for i in range(200): more()\n"
        "print('holds', len(held), flush=True)\n"
        "while not select.select([0], [], [], 0)[0]:\n"
        "  gone = select.select(held, [], [], 0.01)[0]\n"
        "  for s in gone: held.remove(s)\n"
        "  for s in gone: more()\n";
    return {kPythonProgram, "-c", script};
  }
  // A wanted program of this user, below the session: its agent has waited no longer than its
  // patience is, 10 s, or it would not be traced.
  void ExpectATracedProgramInTime() {
    EXPECT_EQ(Exec({Program()}).exit_code, 0);
    EXPECT_THAT(Processes("ended"), SizeIs(1)) << Query()["processes"];
  }
};

TEST_F(SilentConnectionsTest, OfAnotherUserDelayNobodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  Start({"--image", image_, "--user", "all"});
  for (const int processes : {1, 40}) {
    RunningCommand silent(Joined(kAsNobody, Silent(Control(), processes)));
    EXPECT_NE(silent.WaitFor("holds"), "0");
    ExpectATracedProgramInTime();
    Leakgate({"session", "stop", name_});
    Start({"--image", image_, "--user", "all"});
  }
}

TEST_F(SilentConnectionsTest, OfAnotherUserDelayNobody) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  Start({"--image", image_});
  RunningCommand silent(Joined(kAsNobody, Silent(Control(), 20)));
  silent.WaitFor("holds");
  ExpectATracedProgramInTime();
}

TEST_F(SilentConnectionsTest, OfAProcessDelayNoOtherOfItsUser) {
  Start({"--image", image_});
  RunningCommand silent(Silent(Control(), 1));
  EXPECT_NE(silent.WaitFor("holds"), "0");
  ExpectATracedProgramInTime();
}

}  // namespace
}  // namespace leakgate::test
