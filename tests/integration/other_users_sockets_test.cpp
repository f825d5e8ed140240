// Sockets of another user's that are called as root's sessions and runs are, and answer nobody:
// root's commands, and the programs that root has left behind, do without them, in time.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

// Nobody accepts, and no more may wait for it.
constexpr char kFull[] =
    "def hold(name, kind=socket.SOCK_STREAM):\n"
    "  s = socket.socket(socket.AF_UNIX, kind)\n"
    "  s.bind('\\0' + name)\n"
    "  kept.append(s)\n"
    "  return s\n"
    "def bind(name, kind=socket.SOCK_STREAM, places=1000):\n"
    "  hold(name, kind).listen(places)\n"
    "def fill(name, kind=socket.SOCK_STREAM):\n"
    "  bind(name, kind, 0)\n"
    "  while True:\n"
    "    c = socket.socket(socket.AF_UNIX, kind)\n"
    "    c.setblocking(False)\n"
    "    kept.append(c)\n"
    "    try: c.connect('\\0' + name)\n"
    "    except BlockingIOError: return\n";

class OtherUsersSocketsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  }
  // A process of another user's that does `work` and stays.
  static Command RunAsOtherUser(const std::string& work) {
    return {"setpriv",
            "--reuid=65534",
            "--clear-groups",
            "/usr/bin/python3",
            "-c",
            std::string("import os, socket, sys\nkept = []\n") + kFull + work +
                "print('ready', os.getpid(), flush=True)\nsys.stdin.read()\n"};
  }
  // Far from what each of them would cost if it were waited for.
  static CommandResult InTime(const Command& arguments) {
    return Leakgate(arguments, {.timeout = std::chrono::seconds(30)});
  }
};

TEST_F(OtherUsersSocketsTest, HoldUpNoList) {
  RunningCommand stranger(
      RunAsOtherUser("for i in range(5):\n"
                     "  fill('leakgate-session-0-s%d' % i)\n"
                     "  fill('leakgate-run-0-%d-0123456789abcdef' % (i + 1))\n"));
  stranger.WaitFor("ready");
  const CommandResult list = InTime({"session", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.standard_error,
              AllOf(HasSubstr("leakgate: not answering: "), HasSubstr("the session 's1'")));
}

TEST_F(OtherUsersSocketsTest, HoldUpNoSnapshot) {
  RunningCommand stranger(
      RunAsOtherUser("for i in range(5):\n"
                     "  fill('leakgate-session-0-t%d' % i)\n"
                     "  fill('leakgate-run-0-1-%016x' % i)\n"));
  const std::string pid = stranger.WaitFor("ready");
  const CommandResult taken = InTime({"snapshot", "take", "--pid", pid});
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_THAT(taken.standard_error, HasSubstr("no session and no run traces PID " + pid));
  EXPECT_EQ(InTime({"snapshot", "config", "--pid", pid, "query"}).exit_code, 0);
}

TEST_F(OtherUsersSocketsTest, AreToldNothing) {
  RunningCommand stranger(
      RunAsOtherUser("import threading\n"
                     "bind('leakgate-session-0-listens')\n"
                     "def serve():\n"
                     "  c, _ = kept[0].accept()\n"
                     "  print('heard', len(c.recv(100)), flush=True)\n"
                     "threading.Thread(target=serve, daemon=True).start()\n"));
  stranger.WaitFor("ready");
  const CommandResult list = InTime({"session", "list"});
  EXPECT_THAT(list.standard_output + list.standard_error, Not(HasSubstr("listens")));
  EXPECT_EQ(stranger.WaitFor("heard"), "0");
}

// How a stranger may have a name: he listens, has let in as many as may wait, or only holds it.
class OtherUsersNamesTest : public OtherUsersSocketsTest,
                            public testing::WithParamInterface<const char*> {
 protected:
  ~OtherUsersNamesTest() override { Leakgate({"session", "stop", name_}); }

  Command TakesTheName() const {
    return RunAsOtherUser(std::string(GetParam()) + "('leakgate-session-0-" + name_ + "')\n");
  }

  const std::string name_ = std::string("taken-") + GetParam();
};
INSTANTIATE_TEST_SUITE_P(, OtherUsersNamesTest, testing::Values("bind", "fill", "hold"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(OtherUsersNamesTest, HoldUpNoCommand) {
  RunningCommand stranger(TakesTheName());
  const std::string pid = stranger.WaitFor("ready");
  for (const Command& command :
       {Command{"session", "query", name_}, Command{"session", "stop", name_},
        Command{"session", "update", name_, "--add-image", "a"}, Command{"top", name_},
        Command{"session", "exec", name_, "--", "true"},
        Command{"snapshot", "take", "--pid", "1", "--session", name_}}) {
    const CommandResult run = InTime(command);
    SCOPED_TRACE(testing::PrintToString(command) + run.standard_error);
    if (std::string(GetParam()) == "fill") {  // whose it is cannot be known
      EXPECT_EQ(run.exit_code, 3);
      EXPECT_THAT(run.standard_error, HasSubstr("accepts no connections"));
    } else {
      EXPECT_EQ(run.exit_code, 2);
      EXPECT_THAT(run.standard_error, HasSubstr("there is no session '" + name_ + "'"));
    }
    if (std::string(GetParam()) == "bind") {
      EXPECT_THAT(run.standard_error,
                  HasSubstr("another user (UID 65534, PID " + pid + ") holds the name"));
    }
  }
}

TEST_P(OtherUsersNamesTest, KeepNoNameFromAnybodyElse) {
  const Command start = {"session", "start", name_, "--image", "heap_on_request"};
  {
    RunningCommand stranger(TakesTheName());
    stranger.WaitFor("ready");
    const CommandResult started = InTime(start);
    ASSERT_EQ(started.exit_code, 0) << started.standard_error;
    EXPECT_EQ(InTime({"session", "query", name_}).exit_code, 0);
    EXPECT_EQ(InTime({"session", "update", name_, "--add-image", "another"}).exit_code, 0);
    EXPECT_THAT(InTime({"session", "list"}).standard_output, HasSubstr(name_ + "  owner PID"));
    const CommandResult again = InTime(start);
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_THAT(again.standard_error, HasSubstr("exists already"));
  }
  // The name is free now, and the session is the same.
  EXPECT_THAT(InTime({"session", "query", name_}).standard_output, HasSubstr("another"));
  EXPECT_EQ(InTime(start).exit_code, 2);
  EXPECT_EQ(InTime({"session", "stop", name_}).exit_code, 0);
  EXPECT_EQ(InTime({"session", "query", name_}).exit_code, 2);
}

// As many as he likes, of the form that only an owner's has.
TEST_F(OtherUsersSocketsTest, HideNoSessionAmongMany) {
  RunningCommand stranger(
      RunAsOtherUser("fill('leakgate-session-0-many')\n"
                     "for i in range(50): fill('leakgate-session-0-many:%08x' % i)\n"));
  stranger.WaitFor("ready");
  EXPECT_EQ(InTime({"session", "start", "many", "--image", "a"}).exit_code, 0);
  EXPECT_EQ(InTime({"session", "query", "many"}).exit_code, 0);
  EXPECT_EQ(InTime({"session", "stop", "many"}).exit_code, 0);
}

// A service that a session has left behind asks at the same name whenever it starts a program.
TEST_F(OtherUsersSocketsTest, HoldUpNoProgramOfASessionThatHasEnded) {
  for (const std::string way : {"fill", "bind"}) {
    const std::string name = "ended-" + std::to_string(::getpid());
    ASSERT_EQ(Leakgate({"session", "start", name, "--image", "a"}).exit_code, 0);
    const std::string service =
        "echo control $LEAKGATE_CONTROL; read line; for i in 1 2 3 4 5; do /bin/true; done";
    RunningCommand left({LeakgatePath(), "session", "exec", name, "--", "bash", "-c", service});
    const std::string control = left.WaitFor("control");
    ASSERT_EQ(Leakgate({"session", "stop", name}).exit_code, 0);
    RunningCommand stranger(RunAsOtherUser(way + "('" + control + "', socket.SOCK_SEQPACKET)\n"));
    stranger.WaitFor("ready");
    left.EndInput();
    EXPECT_TRUE(GoesSoon(left.pid())) << way;
  }
}

// /proc/net/unix has names as they are.
TEST_F(OtherUsersSocketsTest, ForgeNoEntry) {
  RunningCommand stranger(RunAsOtherUser(
      "bind('a\\n0: 00000002 00000000 00010000 0001 01 9 @leakgate-session-0-forged')\n"
      "fill('leakgate-session-0-\\x1b[31mred')\n"
      "fill('leakgate-session-0-x and y')\n"
      "fill('leakgate-run-0-9999999-0123456789abcde\\n')\n"));
  stranger.WaitFor("ready");
  const CommandResult list = InTime({"session", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.standard_output + list.standard_error,
              AllOf(Not(HasSubstr("forged")), Not(HasSubstr("red")), Not(HasSubstr("x and y")),
                    Not(HasSubstr("PID 9999999")), Not(HasSubstr("\x1b"))));
}

// One's own session that has been stopped is named, and holds up nobody either.
TEST(StoppedSessionsTest, AreNamed) {
  const std::string name = "stopped-" + std::to_string(::getpid());
  ASSERT_EQ(Leakgate({"session", "start", name, "--image", "a"}).exit_code, 0);
  const auto status =
      nlohmann::json::parse(Leakgate({"session", "query", name, "--json"}).standard_output);
  const pid_t owner = status["owner_pid"].get<int>();
  // Whatever becomes of this test, the next ones meet no stopped session.
  const std::shared_ptr<void> goes_on(nullptr, [owner](void*) { ::kill(owner, SIGCONT); });
  ::kill(owner, SIGSTOP);
  const CommandResult list = Leakgate({"session", "list"}, {.timeout = std::chrono::seconds(30)});
  const CommandResult taken = Leakgate({"snapshot", "take", "--pid", std::to_string(::getpid())},
                                       {.timeout = std::chrono::seconds(30)});
  ::kill(owner, SIGCONT);
  EXPECT_EQ(taken.exit_code, 3);
  EXPECT_THAT(taken.standard_error, HasSubstr("not answering: the session '" + name + "'"));
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.standard_output, Not(HasSubstr(name + "  owner")));
  EXPECT_THAT(list.standard_error, HasSubstr("the session '" + name + "'"));
  EXPECT_EQ(Leakgate({"session", "stop", name}).exit_code, 0);
}

}  // namespace
}  // namespace leakgate::test
