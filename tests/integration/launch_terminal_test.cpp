// On a terminal, under an interactive shell: Ctrl-C, Ctrl-Z, fg.
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

// An interactive shell with job control on a terminal of its own.
class Terminal {
 public:
  Terminal() {
    pid_ = ::forkpty(&master_, nullptr, nullptr, nullptr);
    if (pid_ != 0) return;
    // Ignored by the tests, if they were started in the background.
    for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_DFL);
    ::setenv("PS1", "prompt> ", 1);
    ::setenv("LEAKGATE", LeakgatePath().c_str(), 1);
    ::setenv("PROGRAM", FixturePath("launch_signal_count").c_str(), 1);
    ::execlp("bash", "bash", "--norc", "--noprofile", "--noediting", "-i", nullptr);
    ::_exit(127);
  }
  ~Terminal() {
    ::close(master_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void Type(const std::string& keys) { (void)!::write(master_, keys.data(), keys.size()); }

  // What the screen shows up to and with the next `text`.
  std::string WaitFor(const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::size_t at = 0;
    while ((at = screen_.find(text)) == std::string::npos) {
      if (std::chrono::steady_clock::now() > end) {
        throw std::runtime_error("no \"" + text + "\" on the screen: " + screen_);
      }
      ReadSome();
    }
    std::string shown = screen_.substr(0, at + text.size());
    screen_.erase(0, shown.size());
    return shown;
  }

 private:
  void ReadSome() {
    pollfd wait{master_, POLLIN, 0};
    if (::poll(&wait, 1, 100) <= 0) return;
    char buffer[4096];
    const ssize_t got = ::read(master_, buffer, sizeof(buffer));
    if (got <= 0) throw std::runtime_error("the terminal closed: " + screen_);
    screen_.append(buffer, static_cast<std::size_t>(got));
  }

  int master_ = -1;
  pid_t pid_ = -1;
  std::string screen_;
};

constexpr char kControlC[] = "\x03";
constexpr char kControlD[] = "\x04";
constexpr char kControlZ[] = "\x1a";

class LaunchTerminalTest : public testing::Test {
 protected:
  void Start(const std::string& command) {
    terminal_.WaitFor("prompt> ");
    terminal_.Type(command + "\n");
  }
  Terminal terminal_;
};

TEST_F(LaunchTerminalTest, ControlCReachesTheProgramOnce) {
  Start("$LEAKGATE run -- $PROGRAM");
  terminal_.WaitFor("ready");
  terminal_.Type(kControlC);
  terminal_.WaitFor("^C");
  terminal_.Type(kControlD);
  EXPECT_THAT(terminal_.WaitFor("prompt> "), testing::HasSubstr("INT 1\r\n"));
}

TEST_F(LaunchTerminalTest, ControlCEndsAProgramThatDoesNotCatchIt) {
  Start("$LEAKGATE run -- " + FixturePath("launch_suite") + " --gtest_filter=*.Hangs");
  terminal_.WaitFor("\nhanging ");
  terminal_.Type(kControlC);
  terminal_.WaitFor("killed by signal 2 (SIGINT); leakgate exits with 130");
}

TEST_F(LaunchTerminalTest, ControlZStopsTheJobAndForegroundContinuesIt) {
  Start("$LEAKGATE run -- $PROGRAM");
  terminal_.WaitFor("ready");
  terminal_.Type(kControlZ);
  terminal_.WaitFor("Stopped");
  terminal_.WaitFor("prompt> ");
  terminal_.Type("fg\n");
  terminal_.WaitFor("run --");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  terminal_.Type(kControlD);
  EXPECT_THAT(terminal_.WaitFor("prompt> "), testing::HasSubstr("CONT 1\r\n"));
}

// As an editor or a debugger does. Without leakgate the shell sees nothing.
TEST_F(LaunchTerminalTest, ControlZLeavesAProgramThatIgnoresItInTheForeground) {
  Start("(trap '' TSTP; exec $LEAKGATE run -- $PROGRAM)");
  terminal_.WaitFor("ready");
  terminal_.Type(kControlZ);
  terminal_.WaitFor("^Z");
  terminal_.Type(kControlC);
  terminal_.WaitFor("^C");
  terminal_.Type(kControlD);
  EXPECT_THAT(terminal_.WaitFor("prompt> "), testing::HasSubstr("INT 1\r\n"));
}

TEST_F(LaunchTerminalTest, TheTerminalIsUsableAfterwards) {
  Start("$LEAKGATE run -- true");
  terminal_.WaitFor("prompt> ");
  terminal_.Type("tty -s && echo us''able\n");
  terminal_.WaitFor("usable");
}

TEST_F(LaunchTerminalTest, AProgramInTheBackgroundIsStoppedWhenItReads) {
  Start("$LEAKGATE run -- cat &");
  terminal_.WaitFor("prompt> ");
  terminal_.Type("until jobs | grep -o Stop.*ed; do sleep 0.1; done\n");
  terminal_.WaitFor("Stopped");
}

}  // namespace
}  // namespace leakgate::test
