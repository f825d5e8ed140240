#include "tests/attach/attached_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "runner/process/proc_files.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

template <typename T>
T ValueOf(Expected<T> expected) {
  if (!expected) throw std::runtime_error(expected.error().message);
  return *std::move(expected);
}

}  // namespace

std::string AgentPath() { return std::string(LEAKGATE_BINARY_DIR) + "/lib/libleakgate_agent.so"; }

AttachedProgram::AttachedProgram(Carries carries, std::vector<std::string> command, Until until) {
  server_ = ValueOf(ControlServer::Start(
      {.on_hello = [this](const ControlPeer& peer) { return OnHello(peer.pid); }}));
  int to[2];
  int from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  if (command.front().find('/') == std::string::npos) command[0] = FixturePath(command[0]);
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    if (carries == Carries::kAgentThatStaysOff) {
      ::setenv("LD_PRELOAD", AgentPath().c_str(), 1);
      ::setenv(kControlVariable, server_->name().c_str(), 1);
    }
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  input_ = to[1];
  output_ = from[0];
  if (until == Until::kReady && Read() != "ready") throw std::runtime_error("it is not ready");
}

AttachedProgram::~AttachedProgram() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(input_);
  ::close(output_);
}

HelloReply AttachedProgram::OnHello(int pid) {
  if (when_it_asks_) when_it_asks_();
  const std::lock_guard lock(mutex_);
  if (!gives_regions_ || pid != traced()) return {};
  regions_.push_back(ValueOf(RegionFile::Create({.pid = pid})));
  return {.region_fd = regions_.back()->fd().get()};
}

void AttachedProgram::Send(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(input_, text.data(), text.size()) < 0) throw std::runtime_error("it has ended");
}

std::string AttachedProgram::Read() {
  for (;;) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    char buffer[512];
    const ssize_t got = ::read(output_, buffer, sizeof(buffer));
    if (got <= 0) return "";
    unread_.append(buffer, static_cast<std::size_t>(got));
  }
}

std::string AttachedProgram::Enable() {
  {
    const std::lock_guard lock(mutex_);
    gives_regions_ = true;
    regions_.clear();  // at most one is of use
  }
  const Expected<Attachment> attachment =
      EnableRunning({.pid = traced(), .control = server_->name(), .agent = AgentPath()});
  if (!attachment) return attachment.error().message;
  attachment_ = *attachment;
  return "";
}

std::string AttachedProgram::Disable() {
  const Expected<void> disabled = DisableRunning(traced());
  return disabled ? "" : disabled.error().message;
}

std::size_t AttachedProgram::BlocksOf(std::uint64_t size) const {
  const std::vector<LiveBlock> blocks = ValueOf(region().CopyHeap()).blocks;
  return static_cast<std::size_t>(
      std::count_if(blocks.begin(), blocks.end(),
                    [size](const LiveBlock& block) { return block.size_bytes == size; }));
}

int AttachedProgram::WaitForEnd() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace leakgate::test
