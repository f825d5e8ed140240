// Commands for the tests of launching: leakgate in front of a program, alone,
// behind a shell's set-up, or running while the test looks on.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/leakgate_run.h"

namespace leakgate::test {

using Command = std::vector<std::string>;

// `leakgate run OPTIONS -- PROGRAM`.
inline Command Gated(const Command& program, const Command& options = {}) {
  Command command = {LeakgatePath(), "run"};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("--");
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

// A shell that runs `set_up` and then becomes `command`.
inline Command Behind(const std::string& set_up, const Command& command) {
  Command shell = {"bash", "-c", set_up + "\nexec \"$@\"", "bash"};
  shell.insert(shell.end(), command.begin(), command.end());
  return shell;
}

inline Command Launch(const std::string& fixture, const Command& arguments = {}) {
  Command command = {FixturePath("launch_" + fixture)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// Whether a compiler at hand makes this one of tests/fixtures/launch for this processor.
inline bool HasImage(const std::string& name) {
  return std::string(LEAKGATE_LAUNCH_IMAGES).find(" " + name + " ") != std::string::npos;
}

// The exit code as a shell tells it.
inline int ShellCode(const CommandResult& result) {
  return result.signal != 0 ? 128 + result.signal : result.exit_code;
}

// A gone process, or one that only its parent's wait is missing of.
inline bool IsGone(pid_t pid) {
  const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || stat[name_end + 2] == 'Z';
}

// Whether `condition` comes true: waits for it as long as a busy machine may take.
template <typename Condition>
bool ComesTrue(const Condition& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline bool GoesSoon(pid_t pid) {
  return ComesTrue([&] { return IsGone(pid); });
}

// A command in a process group of its own, which ends with it.
class RunningCommand {
 public:
  explicit RunningCommand(const Command& command) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
      throw std::runtime_error("pipe2");
    pid_ = ::fork();
    if (pid_ == 0) Become(command, in[0], out[1]);
    ::setpgid(pid_, pid_);
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~RunningCommand() {
    ::kill(-pid_, SIGKILL);
    EndInput();
    ::close(out_);
    if (!is_waited_) ::waitpid(pid_, nullptr, 0);
  }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  pid_t pid() const { return pid_; }

  // The rest of the next line that begins with `word` and a space.
  std::string WaitFor(const std::string& word) {
    while (const std::optional<std::string> line = ReadLine()) {
      if (line->starts_with(word + " ")) return line->substr(word.size() + 1);
    }
    throw std::runtime_error("the command never said " + word);
  }

  void EndInput() {
    if (in_ >= 0) ::close(in_);
    in_ = -1;
  }

  std::string RestOfOutput() {
    std::string text;
    while (const std::optional<std::string> line = ReadLine()) text += *line + '\n';
    return text;
  }

  int WaitForShellCode() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    is_waited_ = true;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  [[noreturn]] static void Become(const Command& command, int in, int out) {
    ::setpgid(0, 0);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }

  // Without its end; nullopt at the end of the output.
  std::optional<std::string> ReadLine() {
    std::string line;
    for (char byte = 0; ::read(out_, &byte, 1) == 1; line += byte) {
      if (byte == '\n') return line;
    }
    return line.empty() ? std::nullopt : std::optional(line);
  }

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  bool is_waited_ = false;
};

// Tests that leave blocks.
inline const Command kLeaks = Launch("suite", {"--gtest_filter=*.Leaks"});

}  // namespace leakgate::test
