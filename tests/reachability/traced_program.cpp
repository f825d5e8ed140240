#include "tests/reachability/traced_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "runner/attach/program_environment.h"
#include "runner/run/linux/signal_set.h"
#include "runner/run/program_watch.h"

namespace leakgate::test {
namespace {

std::string AgentPath() { return std::string(LEAKGATE_BINARY_DIR) + "/lib/libleakgate_agent.so"; }

template <typename T>
T ValueOf(Expected<T> expected) {
  if (!expected) throw std::runtime_error(expected.error().message);
  return *std::move(expected);
}

}  // namespace

TracedProgram::TracedProgram(const std::string& program,
                             const std::vector<std::string>& arguments) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const UniqueFd output(pipe[0]);
  const int own_output = ::dup(STDOUT_FILENO);
  ::dup2(pipe[1], STDOUT_FILENO);
  ::close(pipe[1]);

  const InheritedState inherited = InheritedState::Take();
  sigset_t no_signals;
  ::sigemptyset(&no_signals);
  server_ = ValueOf(ControlServer::Start(
      {.on_hello = [this](const ControlPeer& peer) { return HelloReply{RegionFor(peer.pid)}; }}));
  const LaunchRequest request{
      .program = program,
      .name = program,
      .arguments = arguments,
      .environment = ValueOf(ProgramEnvironment(OwnEnvironment(), {AgentPath(), server_->name()})),
      .signal_mask = MaskOf(no_signals),
      .inherited = inherited};
  auto launched = SuspendedProcess::Launch(request);
  ::dup2(own_output, STDOUT_FILENO);
  ::close(own_output);
  process_ = ValueOf(std::move(launched));
  pid_ = process_->pid();
  if (!process_->Resume()) throw std::runtime_error("cannot resume the program");
  WaitUntilReady(output.get());
  if (region_.load() == nullptr) throw std::runtime_error("the program was not traced");
}

TracedProgram::~TracedProgram() {
  if (!process_) return;
  ::kill(process_->pid(), SIGKILL);
  ::waitpid(process_->pid(), nullptr, 0);
}

int TracedProgram::RegionFor(int pid) {
  if (pid != pid_) return -1;
  file_ = ValueOf(RegionFile::Create({.pid = pid}));
  region_ = file_.get();
  return file_->fd().get();
}

void TracedProgram::WaitUntilReady(int output) const {
  std::string said;
  char buffer[64];
  while (said.find("ready") == std::string::npos) {
    const ssize_t got = ::read(output, buffer, sizeof(buffer));
    if (got <= 0) throw std::runtime_error("the program ended before it was ready");
    said.append(buffer, static_cast<std::size_t>(got));
  }
  // The program must also return from writing and wait: only then are the words of that call's
  // frames below its stack pointer.
  ::usleep(20'000);
}

std::vector<LiveBlock> TracedProgram::BlocksOf(std::uint64_t size) const {
  std::vector<LiveBlock> blocks = ValueOf(region().CopyHeap()).blocks;
  std::erase_if(blocks, [size](const LiveBlock& block) { return block.size_bytes != size; });
  return blocks;
}

std::vector<BlockReach> TracedProgram::ReachOf(std::uint64_t size) {
  const std::vector<LiveBlock> blocks = BlocksOf(size);
  return ValueOf(FindReach({.pid = pid_,
                            .region = region(),
                            .candidates = blocks,
                            .variables = variables_,
                            .names_holder = [](const LiveBlock&) { return true; }}));
}

bool TracedProgram::AreAllLost(const std::vector<std::uint64_t>& sizes) {
  std::vector<LiveBlock> candidates;
  for (const std::uint64_t size : sizes) {
    const std::vector<LiveBlock> blocks = BlocksOf(size);
    candidates.insert(candidates.end(), blocks.begin(), blocks.end());
  }
  return ValueOf(FindAllLost({.pid = pid_,
                              .region = region(),
                              .candidates = candidates,
                              .variables = variables_}))
      .has_value();
}

}  // namespace leakgate::test
