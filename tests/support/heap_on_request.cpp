#include "tests/support/heap_on_request.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

// The process below `pid` that executes `image`; 0: none does.
pid_t DescendantOf(pid_t pid, const std::string& image) {
  const std::string task = std::to_string(pid);
  std::ifstream children("/proc/" + task + "/task/" + task + "/children");
  for (pid_t child = 0; children >> child;) {
    std::error_code is_gone;
    const auto path =
        std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe", is_gone);
    if (path == std::filesystem::canonical(image)) return child;
    if (const pid_t found = DescendantOf(child, image); found != 0) return found;
  }
  return 0;
}

}  // namespace

HeapOnRequest::HeapOnRequest() : HeapOnRequest(Fixture{"heap_on_request"}) {}

HeapOnRequest::HeapOnRequest(const Fixture& fixture)
    : HeapOnRequest(File{FixturePath(fixture.name)}) {}

HeapOnRequest::HeapOnRequest(const File& file) {
  pid_ = Start({file.path});
  AwaitLine();
}

HeapOnRequest::HeapOnRequest(Suspended suspended) {
  const std::string program = FixturePath("heap_on_request");
  if (suspended == Suspended::kAtFirstInstruction) {
    pid_ = Start({program}, StopAtExec::kYes);
    AwaitStop();
    ::ptrace(PTRACE_DETACH, pid_, nullptr, SIGSTOP);
  } else {
    pid_ = Start({"/bin/sh", "-c", "kill -STOP $$; exec " + program});
  }
  AwaitStop();
}

void HeapOnRequest::AwaitStop() const {
  int status = 0;
  if (::waitpid(pid_, &status, WUNTRACED) != pid_ || !WIFSTOPPED(status)) {
    throw std::runtime_error("it has not stopped");
  }
}

void HeapOnRequest::Resume() {
  ::kill(pid_, SIGCONT);
  AwaitLine();
}

// `leakgate session exec` becomes the program, so its PID is the child's.
HeapOnRequest::HeapOnRequest(const InSession& started) {
  const bool is_path = started.fixture.starts_with('/');
  const std::string program = is_path ? started.fixture : FixturePath(started.fixture);
  std::vector<std::string> start = {LeakgatePath(),  "session", "start",
                                    started.session, "--image", started.fixture};
  start.insert(start.end(), started.options.begin(), started.options.end());
  const CommandResult session = RunCommand(start);
  if (session.exit_code != 0) throw std::runtime_error("no session: " + session.standard_error);
  pid_ = Start({LeakgatePath(), "session", "exec", started.session, "--", program});
  AwaitLine();
}

HeapOnRequest::HeapOnRequest(const std::string& session)
    : HeapOnRequest(InSession{session, "heap_on_request"}) {}

HeapOnRequest::HeapOnRequest(const Run& run) {
  std::vector<std::string> command = {LeakgatePath(), "run"};
  command.insert(command.end(), run.options.begin(), run.options.end());
  const std::string image = FixturePath("heap_on_request");
  command.emplace_back("--");
  if (run.command.empty()) command.push_back(image);
  command.insert(command.end(), run.command.begin(), run.command.end());
  run_pid_ = Start(std::move(command));
  AwaitLine();
  pid_ = DescendantOf(run_pid_, image);
  if (pid_ == 0) throw std::runtime_error("nothing below the run executes " + image);
}

pid_t HeapOnRequest::Start(std::vector<std::string> command, StopAtExec stop) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  int input[2] = {-1, -1};
  int output[2] = {-1, -1};
  if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  const pid_t started = ::fork();
  if (started == 0) {
    ::dup2(input[0], 0);
    ::dup2(output[1], 1);
    if (stop == StopAtExec::kYes) ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  input_ = input[1];
  output_ = output[0];
  return started;
}

HeapOnRequest::~HeapOnRequest() {
  if (pid_ > 0) End();
}

void HeapOnRequest::Keep(int count, int bytes) {
  Do("keep " + std::to_string(count) + ' ' + std::to_string(bytes) + '\n');
}

std::size_t HeapOnRequest::BytesInUse() { return Ask("tell\n"); }
std::size_t HeapOnRequest::BytesByMallocInfo() { return Ask("describe\n"); }

std::size_t HeapOnRequest::Ask(const std::string& line) {
  Send(line);
  const std::size_t bytes = std::stoul(AwaitLine());
  AwaitLine();
  return bytes;
}

void HeapOnRequest::Drop(int count) { Do("drop " + std::to_string(count) + '\n'); }

void HeapOnRequest::Send(const std::string& line) const {
  if (::write(input_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::runtime_error("heap_on_request does not read");
  }
}

void HeapOnRequest::Do(const std::string& line) {
  Send(line);
  AwaitLine();
}

std::string HeapOnRequest::AwaitLine() {
  std::string line;
  for (char c = 0; c != '\n'; line += c) {
    if (::read(output_, &c, 1) != 1) throw std::runtime_error("heap_on_request has ended");
  }
  return line;
}

int HeapOnRequest::End() {
  ::close(input_);
  int status = 0;
  ::waitpid(run_pid_ != 0 ? run_pid_ : pid_, &status, 0);
  ::close(output_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace leakgate::test
