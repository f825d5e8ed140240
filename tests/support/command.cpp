#include "tests/support/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace leakgate::test {
namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  }
};

[[noreturn]] void BecomeCommand(const std::vector<std::string>& command,
                                const CommandOptions& options, const int (&streams)[3]) {
  for (int fd = 0; fd < 3; ++fd) ::dup2(streams[fd], fd);
  ::close_range(3, ~0U, 0);  // CTest's log among them, which others write to
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(126);
  for (const std::string& variable : options.environment) {
    ::putenv(const_cast<char*>(variable.c_str()));
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

bool ReadSome(int& fd, std::string& text) {
  char buffer[1 << 16];
  const ssize_t got = ::read(fd, buffer, sizeof(buffer));
  if (got > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
    return true;
  }
  ::close(fd);
  fd = -1;
  return false;
}

void Collect(pid_t pid, int out, int error, std::chrono::seconds timeout, CommandResult& result) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (out >= 0 || error >= 0) {
    pollfd waits[] = {{out, POLLIN, 0}, {error, POLLIN, 0}};
    ::poll(waits, 2, 100);
    if (waits[0].revents != 0) ReadSome(out, result.standard_output);
    if (waits[1].revents != 0) ReadSome(error, result.standard_error);
    if (std::chrono::steady_clock::now() > end) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      throw std::runtime_error("the command did not end in time; so far it said: " +
                               result.standard_output + result.standard_error);
    }
  }
}

}  // namespace

CommandResult RunCommand(const std::vector<std::string>& command, const CommandOptions& options) {
  Pipe in;
  Pipe out;
  Pipe error;
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) BecomeCommand(command, options, {in.ends[0], out.ends[1], error.ends[1]});

  for (const int fd : {in.ends[0], out.ends[1], error.ends[1]}) ::close(fd);
  (void)!::write(in.ends[1], options.standard_input.data(), options.standard_input.size());
  ::close(in.ends[1]);
  CommandResult result;
  Collect(pid, out.ends[0], error.ends[0], options.timeout, result);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

bool HasProgram(const std::string& name) {
  return RunCommand({"sh", "-c", "command -v " + name}).exit_code == 0;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "leakgate-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::string TemporaryDirectory::Write(const std::string& name, const std::string& text) const {
  const std::filesystem::path path = File(name);
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace leakgate::test
