// What speaks to a runner's control socket without being of its run, or without manners: the
// run comes to the same verdict, in time, with no more memory and descriptors than without.
// LEAKGATE_FUZZ_SECONDS: for how long messages are made up.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "common/control_protocol.h"
#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/base/linux/local_socket.h"
#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

int FuzzSeconds() {
  const char* const seconds = std::getenv("LEAKGATE_FUZZ_SECONDS");
  return seconds == nullptr ? 1 : std::atoi(seconds);
}

// The control socket that a process of the run was told of.
std::string ControlNameOf(pid_t pid) {
  const std::string environment = ReadFile("/proc/" + std::to_string(pid) + "/environ");
  const std::string variable = std::string(kControlVariable) + "=";
  const std::size_t at = environment.find(variable);
  if (at == std::string::npos) throw std::runtime_error("the program has no control socket");
  return environment.c_str() + at + variable.size();
}

UniqueFd ConnectTo(const std::string& name) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const timeval patience{5, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  const AbstractAddress address(name);
  if (::connect(socket.get(), address.get(), address.size()) != 0) return UniqueFd();
  return socket;
}

// Of an answer; 0 if the other end has hung up.
ssize_t SayHello(const std::string& name) {
  const UniqueFd socket = ConnectTo(name);
  const Hello hello{kControlMagic, kLayoutVersion, 0, 0};
  ::send(socket.get(), &hello, sizeof(hello), MSG_NOSIGNAL);
  Answer answer{};
  const ssize_t bytes = ::recv(socket.get(), &answer, sizeof(answer), 0);
  return bytes < 0 && errno == ECONNRESET ? 0 : bytes;
}

void Tell(const std::string& name, const std::string& path, int pid) {
  const UniqueFd socket = ConnectTo(name);
  ExecNotice notice{};
  notice.magic = kExecMagic;
  notice.event = static_cast<std::uint32_t>(ExecEvent::kStarts);
  notice.pid = pid;
  notice.leaves_agent = 1;
  notice.path_length = static_cast<std::uint32_t>(path.size());
  std::memcpy(notice.path, path.data(), path.size());
  ::send(socket.get(), &notice, offsetof(ExecNotice, path) + path.size(), MSG_NOSIGNAL);
}

template <typename Function>
int InAChild(Function function) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(function());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::size_t DescriptorsOf(pid_t pid) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    if (!entry.path().empty()) ++count;
  }
  return count;
}

std::size_t ResidentKibibytesOf(pid_t pid) {
  const std::string status = ReadFile("/proc/" + std::to_string(pid) + "/status");
  return std::stoul(status.substr(status.find("VmRSS:") + 6));
}

// A wrapper, so that the runner minds what is executed below it.
class OtherUsersTest : public testing::Test {
 protected:
  OtherUsersTest() : run_(Gated({"bash", "-c", "echo pid $$; read line; exit 0"})) {
    program_ = std::stoi(run_.WaitFor("pid"));
    control_ = ControlNameOf(program_);
  }

  void ExpectAPass() {
    run_.EndInput();
    EXPECT_EQ(run_.WaitForShellCode(), 0);
  }

  RunningCommand run_;
  pid_t program_ = 0;
  std::string control_;
};

// This process is the runner's parent.
TEST_F(OtherUsersTest, AreNotAnswered) {
  EXPECT_EQ(SayHello(control_), 0);
  ExpectAPass();
}

TEST_F(OtherUsersTest, OfAnotherUserAreNotAnsweredByRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  const std::string variable = std::string(kControlVariable) + "=" + control_;
  const std::string script =
      "import os, socket, struct, sys\n"
      "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
      "s.settimeout(5)\n"
      "s.connect(chr(0) + os.environ['LEAKGATE_CONTROL'])\n"
      "try:\n"
      "  s.send(struct.pack('II', " +
      std::to_string(kControlMagic) + ", " + std::to_string(kLayoutVersion) +
      "))\n"
      "  sys.exit(len(s.recv(100)))\n"
      "except (BrokenPipeError, ConnectionResetError):\n"
      "  pass\n";
  const CommandResult stranger =
      RunCommand({"setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", script},
                 {.environment = {variable}});
  EXPECT_EQ(stranger.exit_code, 0) << stranger.standard_error;
  ExpectAPass();
}

// A child of the run's under another user names a file that only root may read.
TEST(OtherUsersPathsTest, AreOpenedWithTheRightsOfWhoNamesThem) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  const TemporaryDirectory directory;
  const std::string secret = directory.File("secret_tests");
  fs::copy_file(FixturePath("language_untouched"), secret);
  fs::permissions(secret, fs::perms(0700));
  fs::permissions(directory.path(), fs::perms(0755));
  const std::string script = directory.File("tell.py");
  std::ofstream(script) << "import os, socket, struct\n"
                        << "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                        << "s.connect(chr(0) + os.environ['LEAKGATE_CONTROL'])\n"
                        << "path = b'" << secret << "'\n"
                        << "s.send(struct.pack('IIiIII', " << kExecMagic
                        << ", 1, 0, 0, 1, len(path)) + path)\n";
  const auto run = [&](const std::string& prefix) {
    return RunCommand(Gated({"bash", "-c", prefix + "/usr/bin/python3 " + script + " && exit 0"}));
  };
  const CommandResult as_another = run("setpriv --reuid=65534 --clear-groups ");
  EXPECT_EQ(as_another.exit_code, 0) << as_another.standard_error;
  const CommandResult as_root = run("");
  EXPECT_EQ(as_root.exit_code, 3) << as_root.standard_error;
}

// A test binary that is said to run untraced would make the run inconclusive.
TEST_F(OtherUsersTest, TellOfNothing) {
  for (int i = 0; i < 100; ++i) Tell(control_, FixturePath("language_untouched"), 0);
  ExpectAPass();
}

TEST_F(OtherUsersTest, HoldUpNobodyBySilence) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(ConnectTo(control_));
  const auto begin = std::chrono::steady_clock::now();
  ExpectAPass();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// Of the run, and silent all the same.
TEST(MembersTest, HoldUpNobodyBySilence) {
  const std::string silence =
      "import os, socket\n"
      "name = chr(0) + os.environ['LEAKGATE_CONTROL']\n"
      "sockets = []\n"
      "for i in range(40):\n"
      "  s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
      "  s.connect(name)\n"
      "  sockets.append(s)\n"
      "os.system('true')\n";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(RunCommand(Gated({"python3", "-c", silence}, {"--timeout", "60"})).exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// What is executed is looked at, and a FIFO has who opens it wait.
TEST(MembersTest, MayExecuteWhatIsNoProgram) {
  const TemporaryDirectory directory;
  const std::string fifo = directory.File("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0700), 0);
  const CommandResult run =
      RunCommand(Gated({"perl", "-e", "exec {$ARGV[0]} $ARGV[0]; exit 0", fifo},
                       {"--warn-only", "--timeout", "20"}),
                 {.timeout = std::chrono::seconds(30)});
  EXPECT_EQ(run.exit_code, 0) << run.standard_error;
}

// Whatever a program says to the socket, and with however many descriptors.
void SayAnything(const std::string& name, std::mt19937& random) {
  const UniqueFd socket = ConnectTo(name);
  char bytes[sizeof(ExecNotice) + 100];
  for (char& byte : bytes) byte = static_cast<char>(random());
  if (random() % 4 != 0) {
    const std::uint32_t magic = random() % 2 == 0 ? kControlMagic : kExecMagic;
    std::memcpy(bytes, &magic, sizeof(magic));
  }
  std::size_t length = random() % sizeof(bytes);
  if (random() % 2 == 0) length = random() % 40;
  if (random() % 2 == 0 && length >= offsetof(ExecNotice, path)) {  // a whole notice
    const auto path = static_cast<std::uint32_t>(length - offsetof(ExecNotice, path));
    std::memcpy(bytes + offsetof(ExecNotice, path_length), &path, sizeof(path));
  }
  iovec part{bytes, length};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(250 * sizeof(int))] = {};
  const std::size_t count = random() % 3 == 0 ? 1 + random() % 250 : 0;
  if (count != 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    const std::vector<int> descriptors(count, STDERR_FILENO);
    std::memcpy(CMSG_DATA(header), descriptors.data(), count * sizeof(int));
  }
  ::sendmsg(socket.get(), &message, MSG_NOSIGNAL);
}

// The test itself plays a member of the run: by the variable, as a daemon would.
TEST_F(OtherUsersTest, MayPoseAsMembersAndSayAnything) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::size_t descriptors = DescriptorsOf(run_.pid());
  const auto fuzz = [&] {
    std::mt19937 random(seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(FuzzSeconds());
    while (std::chrono::steady_clock::now() < end) SayAnything(control_, random);
    return 0;
  };
  const auto as_member = [&] {
    return RunCommand({"/proc/self/exe", "--gtest_filter=MemberOfARun.*",
                       "--gtest_also_run_disabled_tests"},
                      {.environment = {std::string(kControlVariable) + "=" + control_,
                                       "LEAKGATE_FUZZ_SEED=" + std::to_string(seed)}})
        .exit_code;
  };
  EXPECT_EQ(as_member(), 0);
  const std::size_t resident = ResidentKibibytesOf(run_.pid());
  EXPECT_EQ(InAChild(fuzz), 0);
  EXPECT_EQ(as_member(), 0);
  // The run closes what strangers left when it comes to it.
  EXPECT_TRUE(ComesTrue([&] { return DescriptorsOf(run_.pid()) <= descriptors + 1; }))
      << DescriptorsOf(run_.pid()) << " descriptors, and " << descriptors << " before";
  EXPECT_LE(ResidentKibibytesOf(run_.pid()), resident + 4096);
  ExpectAPass();
}

// Run by the test above.
TEST(MemberOfARun, DISABLED_SaysAnything) {
  const char* const seed = std::getenv("LEAKGATE_FUZZ_SEED");
  if (seed == nullptr) return;
  std::mt19937 random(static_cast<unsigned>(std::stoul(seed)));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(FuzzSeconds());
  const std::string name = std::getenv(kControlVariable);
  while (std::chrono::steady_clock::now() < end) SayAnything(name, random);
}

}  // namespace
}  // namespace leakgate::test
