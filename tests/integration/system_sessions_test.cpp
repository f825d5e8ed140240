// Sessions that trace processes by name whoever starts them: `leakgate session start --system`
// holds each program of the machine when it begins, and `--this-user` looks for processes that run.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/integration/launch_commands.h"
#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::json;
namespace fs = std::filesystem;

// Programs of these tests have names of their own, so that others of the machine are left alone.
class WatchingSessionsTest : public testing::Test {
 protected:
  ~WatchingSessionsTest() override {
    for (const std::string& name : {name_, other_}) Leakgate({"session", "stop", name});
  }

  // Copies `file` into the directory, as `name`.
  std::string Program(const std::string& name, const std::string& file = "/bin/true") const {
    const std::string path = directory_.File(name);
    fs::copy_file(file, path);
    return path;
  }
  CommandResult Start(const std::vector<std::string>& options, const std::string& name = "") const {
    std::vector<std::string> arguments = {"session", "start", name.empty() ? name_ : name};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Leakgate(arguments);
  }
  Json Query(const std::string& name = "") const {
    return Json::parse(
        Leakgate({"session", "query", name.empty() ? name_ : name, "--json"}).standard_output);
  }
  Json Processes(const std::string& name = "") const { return Query(name)["processes"]; }
  // Waits for `count` processes that are told as `state`; returns what there is.
  Json Await(std::size_t count, const std::string& state) const {
    Json found;
    (void)ComesTrue([&] {
      found = Json::array();
      for (const Json& process : Processes()) {
        if (process["state"] == state) found.push_back(process);
      }
      return found.size() >= count;
    });
    return found;
  }
  std::string Problem(const std::string& program) const {
    std::string problem;
    (void)ComesTrue([&] {
      for (const Json& process : Processes()) {
        const std::string path = process["path"];
        if (path.ends_with(program) && process.contains("problem")) problem = process["problem"];
      }
      return !problem.empty();
    });
    return problem;
  }

  const TemporaryDirectory directory_;
  // Of this test alone: tests run side by side.
  const std::string image_ = "lgt" + std::to_string(::getpid());
  const std::string name_ = image_ + "-session";
  const std::string other_ = image_ + "-other";
};

testing::Matcher<Json> IsTracedFromItsBegin() {
  return testing::Truly([](const Json& process) {
    return process["state"] == "ended" && !process.contains("attached_seconds") &&
           !process.contains("problem");
  });
}

class SystemSessionsTest : public WatchingSessionsTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "--system: only root holds programs";
  }
  // False, and the test is skipped, where the kernel lets nobody hold programs.
  bool StartsHolding(std::vector<std::string> images) const {
    std::vector<std::string> options = {"--system"};
    for (const std::string& image : images) options.insert(options.end(), {"--image", image});
    const CommandResult started = Start(options);
    EXPECT_EQ(started.exit_code, 0) << started.standard_error;
    return Query()["is_holding"];
  }
};

int ChildOf(int parent, const std::string& name) {
  const CommandResult found = RunCommand({"pgrep", "-P", std::to_string(parent), "-x", name});
  return std::atoi(found.standard_output.c_str());
}
int HolderOf(int owner) { return ChildOf(owner, "leakgate-holder"); }
int WatchdogOf(int holder) { return ChildOf(holder, "leakgate-guard"); }

// Only the kernel's refusals are no failures of leakgate's.
#define START_HOLDING_OR_SKIP(...)                                             \
  if (!StartsHolding({__VA_ARGS__})) {                                         \
    EXPECT_THAT(std::string(Query()["why_not_held"]),                          \
                testing::AnyOf(HasSubstr("kernel"), HasSubstr("Linux ")));     \
    GTEST_SKIP() << "programs are not held here: " << Query()["why_not_held"]; \
  }

TEST_F(SystemSessionsTest, TraceFromTheFirstInstructionWhoeverStartsIt) {
  const std::string program = Program(image_, FixturePath("heap_on_request"));
  START_HOLDING_OR_SKIP(image_);
  const CommandResult run = RunCommand({program}, {.standard_input = "keep 7 100\n"});
  EXPECT_EQ(run.standard_output, "ready\ndone\n");
  const CommandResult cleared =
      RunCommand({"/usr/bin/env", "-i", program}, {.standard_input = "keep 7 100\n"});
  EXPECT_EQ(cleared.standard_output, "ready\ndone\n");

  const Json processes = Await(2, "ended");
  ASSERT_THAT(processes, SizeIs(2));
  EXPECT_THAT(processes, Each(IsTracedFromItsBegin()));
  EXPECT_EQ(processes[0]["path"], program);
  EXPECT_GE(processes[0]["live"]["blocks"], 7);
  EXPECT_EQ(processes[0]["allocated"], processes[1]["allocated"]);
}

TEST_F(SystemSessionsTest, MissNoneOf200AtOnceThatEndAtOnce) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  const CommandResult burst =
      RunCommand({"sh", "-c", "for i in $(seq 200); do " + program + " & done; wait"});
  EXPECT_EQ(burst.exit_code, 0);
  EXPECT_THAT(Await(200, "ended"), AllOf(SizeIs(200), Each(IsTracedFromItsBegin())));
  EXPECT_EQ(Query()["untraced"], 0);
}

TEST_F(SystemSessionsTest, TraceEachProgramThatTwoThreadsExecuteAtOnce) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  EXPECT_EQ(RunCommand({FixturePath("two_execs"), program, "12"}).exit_code, 0);
  EXPECT_THAT(Await(12, "ended"), AllOf(SizeIs(12), Each(IsTracedFromItsBegin())));
  EXPECT_EQ(Query()["untraced"], 0);
  EXPECT_TRUE(Query()["is_holding"]);
}

// Of a file system that leakgate is not asked about a program is not held: it is found while it
// runs, though a program that was held has executed it.
TEST_F(SystemSessionsTest, AttachToWhatAHeldProgramExecutesElsewhere) {
  const std::string shell = Program(image_, "/bin/dash");
  const std::string place = directory_.File("place");
  fs::create_directory(place);
  START_HOLDING_OR_SKIP(image_, image_ + "-2");
  const std::string second = place + "/" + image_ + "-2";
  const std::string script = "mount -t tmpfs none " + place + " && cp " +
                             FixturePath("heap_on_request") + " " + second + " && exec env -i " +
                             second;
  const RunningCommand run({"unshare", "--mount", shell, "-c", script});
  EXPECT_TRUE(ComesTrue([&] {
    const Json all = Processes();
    return std::any_of(all.begin(), all.end(), [&](const Json& process) {
      return process["path"] == second && process.contains("attached_seconds");
    });
  })) << Processes();
}

TEST_F(SystemSessionsTest, KnowAProgramByEachOfItsNames) {
  const std::string file = Program(image_ + "-file");
  const std::string link = directory_.File(image_ + "-link");
  const std::string hard = directory_.File(image_ + "-hard");
  const std::string named = image_ + "-of-more-than-fifteen-characters";
  fs::create_symlink(file, link);
  fs::create_hard_link(file, hard);
  START_HOLDING_OR_SKIP(image_ + "-link", image_ + "-hard", named);
  EXPECT_EQ(RunCommand({file}).exit_code, 0);
  EXPECT_EQ(RunCommand({link}).exit_code, 0);
  EXPECT_EQ(RunCommand({hard}).exit_code, 0);
  EXPECT_EQ(RunCommand({Program(named)}).exit_code, 0);
  const Json processes = Await(3, "ended");
  ASSERT_THAT(processes, AllOf(SizeIs(3), Each(IsTracedFromItsBegin())));
  EXPECT_EQ(processes[0]["name"], link);
  EXPECT_EQ(processes[1]["name"], hard);
  EXPECT_THAT(Processes(), SizeIs(3));
}

// Each answer wakes all programs that wait, and of one that is awake the kernel does not say what
// it has called.
TEST_F(SystemSessionsTest, KnowManyAtOnceByTheirNamesAndArguments) {
  const std::string link = directory_.File(image_ + "-link");
  fs::create_symlink(Program(image_ + "-file"), link);
  const std::string script = directory_.Write(image_ + ".pl", "#!/usr/bin/perl\nexit 0;\n");
  const std::string other = directory_.Write(image_ + "-other.pl", "#!/usr/bin/perl\nexit 0;\n");
  ::chmod(script.c_str(), 0755);
  ::chmod(other.c_str(), 0755);
  START_HOLDING_OR_SKIP(image_ + "-link", "perl:" + image_ + ".pl");
  const std::string all =
      link + " & " + script + " & " + other + " & perl " + script + " & perl " + other + " &";
  const CommandResult burst =
      RunCommand({"sh", "-c", "for i in $(seq 50); do " + all + " done; wait"});
  EXPECT_EQ(burst.exit_code, 0);
  EXPECT_THAT(Await(150, "ended"), AllOf(SizeIs(150), Each(IsTracedFromItsBegin())));
  EXPECT_EQ(Query()["untraced"], 0);
  EXPECT_THAT(Processes(), SizeIs(150));
}

// More than a socket has room for questions about.
TEST_F(SystemSessionsTest, MissNoneOf300ThatBeginTogether) {
  constexpr int kPrograms = 300;
  const std::string link = directory_.File(image_ + "-link");
  fs::create_symlink(Program(image_ + "-file"), link);
  START_HOLDING_OR_SKIP(image_ + "-link");
  // Another session, which wants none of them, takes none either.
  ASSERT_EQ(Start({"--system", "--image", image_ + "-none"}, other_).exit_code, 0);
  const std::string start =
      "pipe(R, W); for (1.." + std::to_string(kPrograms) +
      ") { if (!fork) { close W; sysread(R, $b, 1); exec $ARGV[0]; exit 9 } }"
      " sleep 1; close R; close W; while (wait > 0) { $bad |= $? } exit($bad != 0);";
  EXPECT_EQ(RunCommand({"perl", "-e", start, link}).exit_code, 0);
  EXPECT_TRUE(ComesTrue([&] {
    const Json session = Query();
    return session["forgotten"].get<int>() + static_cast<int>(session["processes"].size()) ==
           kPrograms;
  })) << Query().dump();
  EXPECT_THAT(Await(1, "ended"), Each(IsTracedFromItsBegin()));
  EXPECT_EQ(Query()["untraced"], 0);
  EXPECT_EQ(Query()["unseen"], 0);
}

TEST_F(SystemSessionsTest, TellHostedProgramsApartAlsoInScripts) {
  const std::string script = directory_.Write(image_ + ".pl", "#!/usr/bin/perl\nprint 1;\n");
  ::chmod(script.c_str(), 0755);
  START_HOLDING_OR_SKIP("perl:" + image_ + ".pl");
  EXPECT_EQ(RunCommand({"perl", script}).standard_output, "1");
  EXPECT_EQ(RunCommand({script}).standard_output, "1");
  EXPECT_EQ(RunCommand({"perl", "-e", "print 2"}).standard_output, "2");
  EXPECT_THAT(Await(2, "ended"), AllOf(SizeIs(2), Each(IsTracedFromItsBegin())));
  EXPECT_THAT(Processes(), SizeIs(2));
}

// Nobody is asked about scripts in /dev, and their interpreters are locked when they are held: then
// an alarm lets them go on.
TEST_F(SystemSessionsTest, AreNotHeldUpByInterpretersOfScriptsElsewhere) {
  const std::string interpreter = Program(image_, "/bin/dash");
  const std::string script = "/dev/" + image_ + "-script";
  std::ofstream(script) << "#!" << interpreter << "\necho it runs\n";
  ::chmod(script.c_str(), 0755);
  START_HOLDING_OR_SKIP(image_);
  for (int i = 0; i < 5; ++i) {
    const CommandResult run = RunCommand({"sh", "-c", script});
    if (run.exit_code == 126) break;  // nothing may be executed there
    EXPECT_EQ(run.standard_output, "it runs\n");
  }
  fs::remove(script);
  EXPECT_TRUE(Query()["is_holding"]);
}

TEST_F(SystemSessionsTest, FollowChainsOfPrograms) {
  const std::string first = Program(image_, "/bin/bash");
  const std::string second = Program(image_ + "-2");
  START_HOLDING_OR_SKIP(image_, image_ + "-2");
  // bash forks a child that executes nothing, which is nobody of that name.
  RunCommand({"sh", "-c", first + " -c '(:); exec " + second + "'"});
  const Json processes = Await(2, "ended");
  ASSERT_THAT(processes, AllOf(SizeIs(2), Each(IsTracedFromItsBegin())));
  EXPECT_EQ(processes[0]["pid"], processes[1]["pid"]);
  EXPECT_THAT(Processes(), SizeIs(2));
}

TEST_F(SystemSessionsTest, TraceWhatASecondThreadExecutes) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  const std::string script =
      "import os, threading\nt = threading.Thread(target=lambda: os.execv('" + program +
      "', ['x']))\nt.start()\nt.join()\n";
  EXPECT_EQ(RunCommand({"python3", "-c", script}).exit_code, 0);
  EXPECT_THAT(Await(1, "ended"), AllOf(SizeIs(1), Each(IsTracedFromItsBegin())));
}

TEST_F(SystemSessionsTest, LeaveAFailedExecAlone) {
  const std::string broken = directory_.Write(image_, "no program");
  ::chmod(broken.c_str(), 0755);
  START_HOLDING_OR_SKIP(image_);
  const std::string script = "import os\ntry:\n os.execv('" + broken +
                             "', ['x'])\nexcept OSError as e:\n print(e.errno)\n";
  EXPECT_EQ(RunCommand({"python3", "-c", script}).standard_output, "8\n");  // ENOEXEC
  EXPECT_THAT(Processes(), SizeIs(0));
}

TEST_F(SystemSessionsTest, TraceOtherUsersUnlessOneIsNamed) {
  const PublicCopy copy;
  const std::string program = copy.Add("/bin/true");
  START_HOLDING_OR_SKIP(program);
  const std::vector<std::string> as_other = {"setpriv", "--reuid=65534", "--clear-groups", program};
  // The agent must be where that user can read it.
  Leakgate({"session", "stop", name_});
  const auto start = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command = {
        PublicCopy::Leakgate(), "session", "start", name_, "--system", "--image", program};
    command.insert(command.end(), options.begin(), options.end());
    EXPECT_EQ(RunCommand(command).exit_code, 0);
  };
  start({});
  EXPECT_EQ(RunCommand(as_other).exit_code, 0);
  EXPECT_THAT(Await(1, "ended"), AllOf(SizeIs(1), Each(IsTracedFromItsBegin())));
  Leakgate({"session", "stop", name_});
  start({"--user", "daemon"});
  EXPECT_EQ(RunCommand(as_other).exit_code, 0);
  EXPECT_THAT(Problem(program), HasSubstr("it is another user's (UID 65534)"));
}

TEST_F(SystemSessionsTest, SeeIntoOtherMountNamespaces) {
  const std::string program = Program(image_, FixturePath("heap_on_request"));
  if (RunCommand({"unshare", "-m", "true"}).exit_code != 0) {
    GTEST_SKIP() << "no mount namespace can be made here";
  }
  START_HOLDING_OR_SKIP(image_);
  const int holder = HolderOf(Query()["owner_pid"]);
  const auto descriptors = [holder] {
    const fs::directory_iterator all("/proc/" + std::to_string(holder) + "/fd");
    return std::distance(begin(all), end(all));
  };
  ASSERT_EQ(RunCommand({"unshare", "-m", program}).exit_code, 0);
  EXPECT_THAT(Await(1, "ended"), AllOf(SizeIs(1), Each(IsTracedFromItsBegin())));
  const auto before = descriptors();

  // A file system that is mounted there alone may be anybody's: its programs are attached to.
  const std::string folder = directory_.File("mounted");
  std::filesystem::create_directory(folder);
  const std::string copy = folder + "/" + image_;
  const std::string script =
      "mount -t tmpfs none " + folder + " && cp " + program + " " + copy + " && exec " + copy;
  const RunningCommand running({"unshare", "-m", "sh", "-c", script});
  const Json tracing = Await(1, "tracing");
  ASSERT_THAT(tracing, SizeIs(1));
  EXPECT_TRUE(tracing[0].contains("attached_seconds"));
  EXPECT_LE(descriptors(), before) << "one that is kept for each namespace runs out";
}

// Mounted by root, in the session's own namespace, while it runs.
TEST_F(SystemSessionsTest, HoldProgramsOfFileSystemsThatAreMountedLater) {
  const std::string program = Program(image_);
  const std::string folder = directory_.File("mounted");
  std::filesystem::create_directory(folder);
  START_HOLDING_OR_SKIP(image_);
  if (RunCommand({"mount", "-t", "tmpfs", "none", folder}).exit_code != 0) {
    GTEST_SKIP() << "nothing can be mounted here";
  }
  const std::string copy = folder + "/" + image_;
  fs::copy_file(program, copy);
  // By then the holder knows of it.
  const bool is_held = ComesTrue([&] {
    RunCommand({copy});
    const Json all = Processes();
    return std::any_of(all.begin(), all.end(), [](const Json& process) {
      return process["state"] == "ended" && !process.contains("attached_seconds");
    });
  });
  RunCommand({"umount", "-l", folder});
  EXPECT_TRUE(is_held);
}

// In a mount namespace of his own a user may call any file what he likes.
TEST_F(SystemSessionsTest, TraceWhatAnotherUserHasExecutedUnderALinkersName) {
  const PublicCopy copy;
  const std::string program = copy.Add("/bin/true");
  START_HOLDING_OR_SKIP("true");
  const std::string script =
      "mount -t tmpfs none /mnt && touch /mnt/ld-linux-x86-64.so.2 && mount --bind " + program +
      " /mnt/ld-linux-x86-64.so.2 && /mnt/ld-linux-x86-64.so.2";
  const CommandResult other = RunCommand(
      {"setpriv", "--reuid=65534", "--clear-groups", "unshare", "-Urm", "sh", "-c", script});
  if (other.exit_code != 0) GTEST_SKIP() << other.standard_error;
  EXPECT_EQ(RunCommand({program}).exit_code, 0);
  EXPECT_TRUE(ComesTrue([&] {
    const Json all = Processes();
    return std::any_of(all.begin(), all.end(), [&](const Json& process) {
      return process["path"] == program && process["state"] == "ended" &&
             !process.contains("attached_seconds");
    });
  }));
}

// Another user whose file system does not answer (tests/fixtures/sessions/slow_files.cpp).
class SlowFiles {
 public:
  static constexpr const char* kUser = "65534";

  SlowFiles() {
    fs::permissions(directory_.path(), fs::perms(0755));
    fs::create_directory(Place());
    fs::permissions(Place(), fs::perms(0777));
    const std::string node = Node();
    has_node_ = ::mknod(node.c_str(), S_IFCHR | 0666, makedev(10, 229)) == 0 &&
                ::chmod(node.c_str(), 0666) == 0;
  }

  std::vector<std::string> Command(const std::string& deed, const std::string& program = "") const {
    return {FixturePath("slow_files"), Node(), Place(), kUser, deed, program};
  }
  // Returns why no such file system can be had here; empty if it can.
  std::string WhyNot() const {
    if (!has_node_) return "no device node can be made here";
    const CommandResult tried = RunCommand(Command("silence"));
    return tried.exit_code == 0 ? "" : "no file system of a user's own: " + tried.standard_error;
  }

 private:
  std::string Node() const { return directory_.File("fuse"); }
  std::string Place() const { return directory_.File("place"); }

  const TemporaryDirectory directory_;
  bool has_node_ = false;
};

class SlowOtherUsersTest : public SystemSessionsTest {
 protected:
  void SetUp() override {
    SystemSessionsTest::SetUp();
    if (IsSkipped()) return;
    const std::string why_not = slow_.WhyNot();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }

  // A program of the user's, and others that begin while it waits; wanted ones are traced.
  void ExpectNobodyToWaitFor(const std::string& deed) {
    const PublicCopy copy;
    const std::string program = Program(image_);
    const std::string slow_one = copy.Add("/bin/true");
    START_HOLDING_OR_SKIP(image_);
    RunningCommand slow(slow_.Command(deed, slow_one));
    const int pid = std::atoi(slow.WaitFor("ready").c_str());
    for (int i = 0; i < 20; ++i) EXPECT_EQ(RunCommand({"/bin/true"}).exit_code, 0);
    EXPECT_EQ(RunCommand({program}).exit_code, 0);
    EXPECT_THAT(Await(1, "ended"), AllOf(SizeIs(1), Each(IsTracedFromItsBegin())));
    const CommandResult own =
        RunCommand({"setpriv", "--reuid=65534", "--clear-groups", "/bin/true"});
    EXPECT_EQ(own.exit_code, 0);
    EXPECT_EQ(ReadFile("/proc/" + std::to_string(pid) + "/comm"), "slow_files\n")
        << "it waits for its own file system, and has executed nothing";
    EXPECT_TRUE(Query()["is_holding"]);
  }

  const SlowFiles slow_;
};

TEST_F(SlowOtherUsersTest, KeepNobodyWaitingByAnOverlayOfTheirs) {
  ExpectNobodyToWaitFor("overlay");
}

TEST_F(SlowOtherUsersTest, KeepNobodyWaitingByAnArgument) {
  ExpectNobodyToWaitFor("argument");
  if (IsSkipped()) return;
  EXPECT_TRUE(ComesTrue([&] { return Query()["let_go"] == Json::array({65534}); }))
      << Query().dump();
  // It may have been wanted by its arguments, which nobody has read.
  EXPECT_TRUE(ComesTrue([&] { return Query()["unseen"] != 0; }));
  EXPECT_THAT(Leakgate({"session", "query", name_}).standard_output,
              HasSubstr("of any program began before they could be looked at"));
}

// The session and the stranger have a /proc of their own, so that nothing else of the machine
// waits.
TEST_F(SlowOtherUsersTest, KeepNobodyWaitingByAListingOfProc) {
  const CommandOptions kSoon{.timeout = std::chrono::seconds(60)};
  const std::string program = Program(image_);
  RunningCommand inside(
      {"unshare", "--mount", "--mount-proc", "sh", "-c", "echo ready $$; read x"});
  const std::string space = "--mount=/proc/" + inside.WaitFor("ready") + "/ns/mnt";
  const auto within = [&](std::vector<std::string> command) {
    command.insert(command.begin(), {"nsenter", space, "--"});
    return command;
  };
  const CommandResult started = RunCommand(within(
      {LeakgatePath(), "session", "start", name_, "--system", "--image", image_, "--user", "all"}));
  ASSERT_EQ(started.exit_code, 0) << started.standard_error;
  if (!Query()["is_holding"]) GTEST_SKIP() << "programs are not held here";
  RunningCommand slow(within(slow_.Command("listing")));
  slow.WaitFor("ready");
  constexpr int kLongEnoughForTheWatchdog = 60;
  for (int i = 0; i < kLongEnoughForTheWatchdog; ++i) {
    EXPECT_EQ(RunCommand({"/bin/true"}, kSoon).exit_code, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(RunCommand({program}, kSoon).exit_code, 0);
  EXPECT_THAT(Await(1, "ended"), AllOf(SizeIs(1), Each(IsTracedFromItsBegin())));
  EXPECT_TRUE(Query()["is_holding"]) << Query()["why_not_held"];
}

// Whoever opens the file waits until the lease is given up (45 s), but for those who say that they
// do not wait: they fail at once.
TEST_F(SlowOtherUsersTest, KeepNobodyWaitingByALease) {
  const PublicCopy copy;
  const std::string program = Program(image_);
  const std::string leased = copy.Add("/bin/true");
  START_HOLDING_OR_SKIP(image_);
  RunningCommand slow(slow_.Command("lease", leased));
  slow.WaitFor("ready");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(RunCommand({"/bin/true"}).exit_code, 0);
  EXPECT_EQ(RunCommand({program}).exit_code, 0);
  EXPECT_THAT(Await(1, "ended"), AllOf(SizeIs(1), Each(IsTracedFromItsBegin())));
  EXPECT_TRUE(Query()["is_holding"]);
}

TEST_F(SlowOtherUsersTest, KeepNoOwnerWaitingThatAttachesToThem) {
  ASSERT_EQ(Start({"--image", image_, "--user", "all"}).exit_code, 0);
  RunningCommand slow(slow_.Command("header"));
  const std::string pid = slow.WaitFor("ready");
  const CommandResult refused = Leakgate({"session", "update", name_, "--add-pid", pid});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.standard_error,
              HasSubstr("a process of this user (UID 65534) keeps leakgate waiting"));
  const CommandResult again = Leakgate({"session", "update", name_, "--add-pid", pid});
  EXPECT_THAT(again.standard_error, HasSubstr("its processes are not attached to for a while"));
  EXPECT_EQ(Query()["processes"], Json::array());
  EXPECT_EQ(Leakgate({"session", "stop", name_}).exit_code, 0);
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, Not(HasSubstr(name_)));
}

TEST_F(SystemSessionsTest, NameEachThatCannotBeTraced) {
  const std::string script = directory_.Write(image_ + "-script", "#!/bin/sh\n");
  ::chmod(script.c_str(), 0755);
  const std::string static_one = Program(image_ + "-static", FixturePath("attach_static"));
  const std::string own_malloc =
      Program(image_ + "-malloc", FixturePath("launch_unmovable_malloc"));
  const std::string set_uid = Program(image_ + "-set-uid");
  ASSERT_EQ(::chmod(set_uid.c_str(), 04755), 0);
  const std::string isolated = Program(image_ + "-isolated");
  START_HOLDING_OR_SKIP(image_ + "-*");
  RunCommand({script});
  RunCommand({"timeout", "5", static_one});
  RunCommand({own_malloc});
  RunCommand({set_uid});
  RunCommand({"unshare", "-n", isolated});
  EXPECT_THAT(Problem("-script"), HasSubstr("it is a script, which "));
  EXPECT_THAT(Problem("-static"), HasSubstr("it is statically linked"));
  EXPECT_THAT(Problem("-malloc"), HasSubstr("malloc"));
  EXPECT_THAT(Problem("-set-uid"), HasSubstr("runs with its file's rights"));
  EXPECT_THAT(Problem("-isolated"), HasSubstr("is in another network namespace"));
  EXPECT_THAT(Leakgate({"session", "query", name_}).standard_output,
              HasSubstr("5 processes could not be traced"));
}

TEST_F(SystemSessionsTest, NameEachScriptAndNotItsInterpreter) {
  const std::string script = directory_.Write(image_ + "-script", "#!/bin/sh\n");
  ::chmod(script.c_str(), 0755);
  START_HOLDING_OR_SKIP(image_ + "-*");
  constexpr std::size_t kRuns = 30;
  for (std::size_t i = 0; i < kRuns; ++i) RunCommand({script});
  const Json told = Await(kRuns, "failed");
  ASSERT_THAT(told, SizeIs(kRuns));
  for (const Json& process : told) {
    EXPECT_THAT(process["path"].get<std::string>(), testing::EndsWith("-script"));
    EXPECT_THAT(process["problem"].get<std::string>(), HasSubstr("it is a script, which "));
  }
}

// The interpreter cannot be executed yet, so the kernel asks for the script only.
TEST_F(SystemSessionsTest, TraceAnInterpreterThatIsExecutedAfterItsScriptHasFailed) {
  const std::string interpreter = Program(image_, "/bin/dash");
  ::chmod(interpreter.c_str(), 0644);
  const std::string script = directory_.Write("other", "#!" + interpreter + "\n");
  ::chmod(script.c_str(), 0755);
  const std::string wanted = directory_.Write("wanted", "echo it runs\n");
  START_HOLDING_OR_SKIP(image_ + ":wanted");
  const CommandResult run = RunCommand({"bash", "-c",
                                        "shopt -s execfail\nexec " + script + "\nchmod 755 " +
                                            interpreter + "\nexec " + interpreter + " " + wanted});
  EXPECT_EQ(run.standard_output, "it runs\n") << run.standard_error;
  EXPECT_THAT(Await(1, "ended"), AllOf(SizeIs(1), Each(IsTracedFromItsBegin())));
}

// The test is its debugger.
void RunDebugged(const std::string& program) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSTOPPED(status));  // its exec, as ever
  ::ptrace(PTRACE_CONT, pid, nullptr, nullptr);
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
}

TEST_F(SystemSessionsTest, LeaveADebuggersProcessToIt) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  RunDebugged(program);
  EXPECT_THAT(Problem(image_), HasSubstr("a debugger (PID " + std::to_string(::getpid()) + ")"));
}

// It opens its dynamic linker, as no program has since the holder began.
TEST_F(SystemSessionsTest, TellWhyOfTheFirstProgramThatTheyCannotTrace) {
  const std::string program = Program(image_);
  const CommandResult started = Start({"--system", "--image", image_});
  if (started.standard_error.find("not held") != std::string::npos) {
    GTEST_SKIP() << started.standard_error;
  }
  RunDebugged(program);
  EXPECT_THAT(Problem(image_), HasSubstr("a debugger (PID " + std::to_string(::getpid()) + ")"));
}

TEST_F(SystemSessionsTest, LeaveToAnotherSessionWhatStartsBelowIt) {
  const std::string program = Program(image_, FixturePath("heap_on_request"));
  START_HOLDING_OR_SKIP(image_);
  const CommandResult run = Leakgate(
      {"session", "start", other_, "--image", image_, "--", "sh", "-c", program + "; true"});
  EXPECT_EQ(run.exit_code, 0) << run.standard_error;
  EXPECT_THAT(Problem(image_), HasSubstr("it was started below a run or another session"));
  EXPECT_THAT(Processes(other_), SizeIs(1));
}

// Both ask the kernel about each program. Whichever comes first has it.
TEST_F(SystemSessionsTest, AreNotBothGivenAProcess) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  ASSERT_EQ(Start({"--system", "--image", image_}, other_).exit_code, 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(RunCommand({program}).exit_code, 0);
  ASSERT_TRUE(ComesTrue([&] {
    return Query()["processes"].size() == 10U && Query(other_)["processes"].size() == 10U;
  }));
  int traced = 0;
  for (const std::string& session : {name_, other_}) {
    for (const Json& process : Processes(session)) {
      if (process["state"] == "ended") {
        ++traced;
      } else {
        EXPECT_THAT(process["problem"].get<std::string>(), HasSubstr("another session"));
      }
    }
  }
  EXPECT_EQ(traced, 10);
}

// Processes that are started and not awaited.
class Several {
 public:
  Several(int count, const std::string& program) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::execl(program.c_str(), program.c_str(), nullptr);
        ::_exit(127);
      }
      pids_.push_back(pid);
    }
  }
  ~Several() {
    for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
    (void)CountEnded();
  }

  int CountEnded() {
    std::erase_if(pids_, [this](pid_t pid) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) != pid) return false;
      ++ended_;
      failed_ += status != 0;
      return true;
    });
    return ended_;
  }
  int failed() const { return failed_; }

 private:
  std::vector<pid_t> pids_;
  int ended_ = 0;
  int failed_ = 0;
};

// While a holder and its watchdog are stopped, no program of the machine begins: neither may this
// test run commands.
class HeldProgramsTest : public SystemSessionsTest {
 protected:
  // Starts 20 processes while both are stopped, so that all are held.
  void HoldTwenty(const std::string& program) {
    owner_ = Query()["owner_pid"];
    holder_ = HolderOf(owner_);
    ASSERT_GT(holder_, 0);
    const int watchdog = WatchdogOf(holder_);
    ASSERT_GT(watchdog, 0);
    ASSERT_EQ(::kill(watchdog, SIGSTOP), 0);
    ASSERT_EQ(::kill(holder_, SIGSTOP), 0);
    held_.emplace(20, program);
  }
  void ExpectAllToGoOn() {
    EXPECT_TRUE(ComesTrue([&] { return held_->CountEnded() == 20; }));
    EXPECT_EQ(held_->failed(), 0);
    EXPECT_TRUE(GoesSoon(holder_));
  }

  int owner_ = 0;
  int holder_ = 0;
  std::optional<Several> held_;
};

TEST_F(HeldProgramsTest, GoOnWhenTheOwnerIsKilled) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  HoldTwenty(program);
  EXPECT_EQ(held_->CountEnded(), 0);
  ASSERT_EQ(::kill(owner_, SIGKILL), 0);
  ExpectAllToGoOn();
}

TEST_F(HeldProgramsTest, GoOnWhenTheHolderIsKilledAndTheSessionSaysSo) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  HoldTwenty(program);
  ASSERT_EQ(::kill(holder_, SIGKILL), 0);
  ExpectAllToGoOn();
  EXPECT_TRUE(ComesTrue([&] { return !Query()["is_holding"].get<bool>(); }));
  EXPECT_THAT(Leakgate({"session", "query", name_}).standard_output,
              AllOf(HasSubstr("programs are not held: the process that held programs (PID " +
                              std::to_string(holder_) + ") was killed"),
                    HasSubstr("processes are found while they run")));
}

// Nothing tells a process that is stopped to let go. The kernel kills it then.
TEST_F(HeldProgramsTest, GoOnWhenTheHolderAndItsWatchdogAreStopped) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  HoldTwenty(program);
  ExpectAllToGoOn();
  EXPECT_TRUE(ComesTrue([&] { return !Query()["is_holding"].get<bool>(); }));
}

// The watchdog answers until it has ended the holder.
TEST_F(HeldProgramsTest, GoOnWhenTheHolderIsStopped) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  holder_ = HolderOf(Query()["owner_pid"]);
  ASSERT_GT(WatchdogOf(holder_), 0);
  ASSERT_EQ(::kill(holder_, SIGSTOP), 0);
  held_.emplace(20, program);
  ExpectAllToGoOn();
  EXPECT_TRUE(ComesTrue([&] { return !Query()["is_holding"].get<bool>(); }));
}

// A worker that is stopped holds up nobody for long: its user's programs are let go, and named.
TEST_F(HeldProgramsTest, GoOnWhenAWorkerIsStopped) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  EXPECT_EQ(RunCommand({program}).exit_code, 0);
  const int factory = ChildOf(HolderOf(Query()["owner_pid"]), "leakgate-holder");
  const int worker = ChildOf(factory, "leakgate-holder");
  ASSERT_GT(worker, 0);
  ASSERT_EQ(::kill(worker, SIGSTOP), 0);
  held_.emplace(20, program);
  EXPECT_TRUE(ComesTrue([&] { return held_->CountEnded() == 20; }));
  EXPECT_EQ(held_->failed(), 0);
  EXPECT_TRUE(ComesTrue([&] { return Query()["let_go"] == Json::array({0}); }));
  EXPECT_TRUE(Query()["is_holding"]);
  EXPECT_THAT(Leakgate({"session", "query", name_}).standard_output,
              HasSubstr("because a program kept leakgate waiting: all programs of UID 0"));
  EXPECT_THAT(Problem(image_), testing::AnyOf(HasSubstr("it began before it could be looked at"),
                                              HasSubstr("it ended before leakgate could attach")));
}

TEST_F(HeldProgramsTest, GoOnWhenTheOwnerIsToldToEnd) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_);
  HoldTwenty(program);
  ASSERT_EQ(::kill(owner_, SIGTERM), 0);
  ExpectAllToGoOn();
}

TEST_F(HeldProgramsTest, GoOnWhenTheSessionExpires) {
  const std::string program = Program(image_);
  // On a busy machine it may have expired before anything was held.
  for (const char* const time : {"2s", "8s", "30s"}) {
    const CommandResult started = Start({"--system", "--image", image_, "--expire", time});
    ASSERT_EQ(started.exit_code, 0) << started.standard_error;
    const CommandResult told = Leakgate({"session", "query", name_, "--json"});
    if (told.exit_code != 0) continue;
    const Json session = Json::parse(told.standard_output);
    if (!session["is_holding"]) GTEST_SKIP() << session["why_not_held"];
    EXPECT_GE(session["expires_seconds"], session["begin_seconds"]);
    owner_ = session["owner_pid"];
    holder_ = HolderOf(owner_);
    if (holder_ > 0 && ::kill(holder_, SIGSTOP) == 0) break;
  }
  held_.emplace(20, program);
  ExpectAllToGoOn();
  EXPECT_TRUE(ComesTrue([&] { return Leakgate({"session", "query", name_}).exit_code == 2; }));
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, Not(HasSubstr(name_)));
}

TEST_F(SystemSessionsTest, AreListedWithTheirReachAndTheirEnd) {
  ASSERT_EQ(Start({"--system", "--image", image_, "--expire", "1h"}).exit_code, 0);
  EXPECT_THAT(
      Leakgate({"session", "list"}).standard_output,
      testing::ContainsRegex(name_ + ".* until .* traces " + image_ + " whoever starts it"));
  EXPECT_EQ(Query()["reach"], "system");
}

TEST_F(SystemSessionsTest, ChangeWhatTheyHold) {
  const std::string program = Program(image_);
  START_HOLDING_OR_SKIP(image_ + "-none");
  EXPECT_EQ(RunCommand({program}).exit_code, 0);
  ASSERT_EQ(Leakgate({"session", "update", name_, "--add-image", image_}).exit_code, 0);
  EXPECT_EQ(RunCommand({program}).exit_code, 0);
  EXPECT_THAT(Await(1, "ended"), AllOf(SizeIs(1), Each(IsTracedFromItsBegin())));
  ASSERT_EQ(Leakgate({"session", "update", name_, "--drop-image", image_}).exit_code, 0);
  EXPECT_EQ(RunCommand({program}).exit_code, 0);
  EXPECT_THAT(Processes(), SizeIs(1));
}

TEST_F(SystemSessionsTest, AreMadeBySnapshotConfig) {
  const std::string program = Program(image_);
  const CommandResult enabled =
      Leakgate({"snapshot", "config", "--image", image_, "--session", name_, "--system", "enable"});
  ASSERT_EQ(enabled.exit_code, 0) << enabled.standard_error;
  if (!Query()["is_holding"]) GTEST_SKIP() << Query()["why_not_held"];
  EXPECT_EQ(RunCommand({program}).exit_code, 0);
  EXPECT_THAT(Await(1, "ended"), SizeIs(1));
  const CommandResult other = Leakgate(
      {"snapshot", "config", "--image", image_, "--session", name_, "--this-user", "enable"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.standard_error, HasSubstr("traces other processes than --system"));
}

// As in a container that root has not given that right.
TEST_F(SystemSessionsTest, LookForProcessesWhereNoneCanBeHeld) {
  const std::string program = Program(image_, FixturePath("heap_on_request"));
  const CommandResult started =
      RunCommand({"setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", LeakgatePath(),
                  "session", "start", name_, "--system", "--image", image_});
  ASSERT_EQ(started.exit_code, 0) << started.standard_error;
  EXPECT_THAT(
      started.standard_error,
      testing::AnyOf(
          HasSubstr("programs are not held: the kernel does not let leakgate hold programs"),
          // before Linux 6.8
          HasSubstr("does not let a process be traced that is held in execve")));
  HeapOnRequest running(HeapOnRequest::File{program});
  ASSERT_THAT(Await(1, "tracing"), SizeIs(1));
  running.Keep(7, 100);
  const Json process = Processes()[0];
  EXPECT_EQ(process["state"], "tracing");
  EXPECT_TRUE(process.contains("attached_seconds"));
  EXPECT_EQ(running.End(), 0);
}

TEST_F(WatchingSessionsTest, AreRefusedWithoutAnImage) {
  for (const char* const reach : {"--system", "--this-user"}) {
    const CommandResult refused = Start({reach, "--pid", std::to_string(::getpid())});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.standard_error, HasSubstr("--system and --this-user are for --image"));
  }
}

TEST_F(WatchingSessionsTest, OfThisUserTraceNoOthers) {
  const CommandResult refused = Start({"--this-user", "--image", image_, "--user", "all"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.standard_error, HasSubstr("--this-user traces no other users' processes"));
}

TEST_F(SystemSessionsTest, AreRootsAlone) {
  const PublicCopy copy;
  const CommandResult refused =
      RunCommand({"setpriv", "--reuid=65534", "--clear-groups", PublicCopy::Leakgate(), "session",
                  "start", name_, "--system", "--image", "a"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.standard_error, HasSubstr("--system: only root can trace what others start"));
}

class ThisUserSessionsTest : public WatchingSessionsTest {
 protected:
  void SetUp() override {
    const std::string scope = ReadFile("/proc/sys/kernel/yama/ptrace_scope");
    if (::geteuid() != 0 && !scope.empty() && scope != "0\n") {
      GTEST_SKIP() << "--this-user: kernel.yama.ptrace_scope is " << scope;
    }
  }
};

TEST_F(ThisUserSessionsTest, AttachToProcessesThatStartAnywhere) {
  const std::string program = Program(image_, FixturePath("heap_on_request"));
  HeapOnRequest before(HeapOnRequest::File{program});
  ASSERT_EQ(Start({"--this-user", "--image", image_}).exit_code, 0);
  HeapOnRequest running(HeapOnRequest::File{program});
  ASSERT_THAT(Await(1, "tracing"), SizeIs(1));
  running.Keep(7, 100);
  const Json session = Query();
  EXPECT_EQ(session["reach"], "this_user");
  EXPECT_EQ(session["ran_before"], Json({before.pid()}));
  ASSERT_THAT(session["processes"], SizeIs(1));
  EXPECT_EQ(session["processes"][0]["pid"], running.pid());
  EXPECT_TRUE(session["processes"][0].contains("attached_seconds"));
  EXPECT_THAT(Leakgate({"session", "query", name_}).standard_output,
              AllOf(HasSubstr("not known: what it allocated before"),
                    HasSubstr("ran before the session, and not traced: PID " +
                              std::to_string(before.pid()))));
  EXPECT_EQ(running.End(), 0);
  EXPECT_EQ(before.End(), 0);
}

// The dynamic linker waits for a writer of what it is to preload, before it has come to glibc.
TEST_F(ThisUserSessionsTest, AttachToAProcessOnceItIsLoaded) {
  const std::string program = Program(image_, FixturePath("heap_on_request"));
  const std::string fifo = directory_.File("preloaded");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(Start({"--this-user", "--image", image_}).exit_code, 0);
  const RunningCommand running({"env", "LD_PRELOAD=" + fifo, program});
  const int writer = ::open(fifo.c_str(), O_WRONLY);  // it has begun to load
  ASSERT_GE(writer, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it waits for what is written
  ::close(writer);
  ASSERT_THAT(Await(1, "tracing"), SizeIs(1));
}

TEST_F(ThisUserSessionsTest, TellWhatTheyMayHaveMissed) {
  const std::string program = Program(image_);
  ASSERT_EQ(Start({"--this-user", "--image", image_}).exit_code, 0);
  RunCommand({"sh", "-c", "for i in $(seq 100); do " + program + "; done"});
  // One that is looked at before it executes the program is neither.
  ASSERT_TRUE(ComesTrue([&] { return Query()["unseen"].get<int>() > 0; }));
  EXPECT_THAT(Leakgate({"session", "query", name_}).standard_output,
              HasSubstr("of any program ended before they could be looked at"));
}

TEST_F(ThisUserSessionsTest, NeedNoRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  const PublicCopy copy;
  const std::string program = copy.Add(FixturePath("heap_on_request"));
  const auto as_other = [&](std::vector<std::string> command) {
    command.insert(command.begin(), {"setpriv", "--reuid=65534", "--clear-groups"});
    return RunCommand(command);
  };
  const std::string leakgate = PublicCopy::Leakgate();
  const CommandResult started =
      as_other({leakgate, "session", "start", name_, "--this-user", "--image", program});
  if (started.standard_error.find("ptrace_scope") != std::string::npos) {
    GTEST_SKIP() << started.standard_error;
  }
  ASSERT_EQ(started.exit_code, 0) << started.standard_error;
  const auto query = [&] {
    return as_other({leakgate, "session", "query", name_}).standard_output;
  };
  as_other({"sh", "-c", "(sleep 1; echo keep 7 100; sleep 1) | " + program});
  EXPECT_THAT(query(), AllOf(HasSubstr("heap_on_request  ended"),
                             HasSubstr("not known: what it allocated before")));
  as_other({leakgate, "session", "stop", name_});
}

TEST_F(ThisUserSessionsTest, NameWhatTheyCannotAttachTo) {
  const std::string program = Program(image_, FixturePath("attach_static"));
  ASSERT_EQ(Start({"--this-user", "--image", image_}).exit_code, 0);
  Several running(1, program);
  EXPECT_THAT(Problem(image_), HasSubstr("it is statically linked"));
}

}  // namespace
}  // namespace leakgate::test
