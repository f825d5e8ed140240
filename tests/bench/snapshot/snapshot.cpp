// A snapshot of a live process from outside: runs live_blocks under a session
// of its own, waits until its blocks are live, and times the reading of all of
// them while the process goes on allocating.
//
// leakgate_bench_snapshot LIVE_BLOCKS_PROGRAM COUNT
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

#include "runner/attach/program_environment.h"
#include "runner/cli/installation.h"
#include "runner/host/control_server.h"
#include "runner/region/region_file.h"
#include "runner/run/launcher.h"
#include "runner/run/program_watch.h"

namespace {

using Clock = std::chrono::steady_clock;

// The program, traced into a region that is read here.
class TracedProgram {
 public:
  TracedProgram(const std::string& program, const std::string& count) {
    const leakgate::InheritedState inherited = leakgate::InheritedState::Take();
    const leakgate::BlockedSignals signals;
    server_ =
        leakgate::ControlServer::Start({.on_hello = [this](const leakgate::ControlPeer& peer) {
          return leakgate::HelloReply{RegionFor(peer.pid)};
        }}).value();
    process_ =
        leakgate::SuspendedProcess::Launch(
            {.program = program,
             .name = program,
             .arguments = {count, "hold"},
             .environment = leakgate::ProgramEnvironment(leakgate::OwnEnvironment(),
                                                         {leakgate::FindAgent(), server_->name()})
                                .value(),
             .signal_mask = signals.original(),
             .inherited = inherited})
            .value();
    pid_ = process_->pid();
    if (!process_->Resume()) throw std::runtime_error("cannot resume the program");
    region_.wait(nullptr);
  }
  ~TracedProgram() {
    ::kill(process_->pid(), SIGKILL);
    ::waitpid(process_->pid(), nullptr, 0);
  }
  TracedProgram(const TracedProgram&) = delete;
  TracedProgram& operator=(const TracedProgram&) = delete;

  const leakgate::RegionReader& Region() const { return region_.load()->reader(); }

 private:
  int RegionFor(int pid) {
    if (pid != pid_) return -1;
    file_ = leakgate::RegionFile::Create({.pid = pid}).value();
    region_ = file_.get();
    region_.notify_all();
    return file_->fd().get();
  }

  std::atomic<int> pid_{0};
  std::unique_ptr<leakgate::RegionFile> file_;
  std::atomic<leakgate::RegionFile*> region_{nullptr};
  std::unique_ptr<leakgate::ControlServer> server_;
  std::unique_ptr<leakgate::SuspendedProcess> process_;
};

void WaitForBlocks(const leakgate::RegionReader& region, std::uint64_t count) {
  while (region.CurrentTotals().allocated_blocks < count) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// The median of a few.
void MeasureSnapshots(const leakgate::RegionReader& region) {
  constexpr std::uint32_t kProgramWindow = 1;
  std::vector<double> milliseconds;
  std::size_t blocks = 0;
  for (int i = 0; i < 3; ++i) {
    const auto begin = Clock::now();
    blocks = region.LiveBlocks(kProgramWindow).value().size();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("bench.snapshot_ms %.3f\nbench.blocks %zu\n", milliseconds[1], blocks);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s LIVE_BLOCKS_PROGRAM COUNT\n", argv[0]);
    return 2;
  }
  const TracedProgram program(argv[1], argv[2]);
  WaitForBlocks(program.Region(), std::stoull(argv[2]));
  MeasureSnapshots(program.Region());
}
