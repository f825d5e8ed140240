// How long a thread is kept from its work by being attached to, and what it has to do meanwhile.
//
// Three ways: the agent is loaded into a program that has not got it; tracing is enabled
// again in one that has; and disabled. Of each
//
//   stopped     from the stop until it goes on, as the runner tells it (not of disabling)
//   processor   the thread's own time on a processor, by the kernel's count, which whatever
//               else the machine does adds little to
//
// Usage: leakgate_bench_attach [ROUNDS [AGENT]]      one line of JSON, in microseconds;
//                                                    tests/bench/attach/measure sets two
//                                                    builds against each other
#include "runner/attach/attach.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runner/host/control_server.h"
#include "runner/region/region_file.h"

namespace leakgate::bench {
namespace {

std::string g_agent = LEAKGATE_BENCH_AGENT;
const std::string kTarget = LEAKGATE_BENCH_TARGET;

class Program {
 public:
  Program() {
    int ready[2] = {-1, -1};
    if (::pipe2(ready, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ready[1], STDOUT_FILENO);
      ::execl(kTarget.c_str(), kTarget.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ready[1]);
    char byte = 0;
    const bool is_ready = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
    if (!is_ready) throw std::runtime_error("cannot run " + kTarget);
  }
  ~Program() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int pid() const { return pid_; }
  double ProcessorMicroseconds() const {
    double nanoseconds = 0;
    std::ifstream("/proc/" + std::to_string(pid_) + "/schedstat") >> nanoseconds;
    return nanoseconds / 1000;
  }
  static double Microseconds(std::chrono::nanoseconds time) {
    return static_cast<double>(time.count()) / 1000;
  }

 private:
  pid_t pid_ = -1;
};

struct Series {
  std::vector<double> stopped, processor;
};

struct Figures {
  Series load, enable, disable;
};

void Measure(Figures& figures) {
  Program program;
  std::vector<std::unique_ptr<RegionFile>> regions;
  const auto server = ControlServer::Start({.on_hello = [&](const ControlPeer& peer) {
    regions.push_back(*RegionFile::Create({.pid = peer.pid}));
    return HelloReply{.region_fd = regions.back()->fd().get()};
  }});
  const auto enable = [&](Series& to) {
    const double before = program.ProcessorMicroseconds();
    const auto enabled =
        EnableRunning({.pid = program.pid(), .control = (*server)->name(), .agent = g_agent});
    if (!enabled) throw std::runtime_error(enabled.error().message);
    to.processor.push_back(program.ProcessorMicroseconds() - before);
    to.stopped.push_back(Program::Microseconds(enabled->stopped));
  };
  const auto disable = [&] {
    const double before = program.ProcessorMicroseconds();
    const auto disabled = DisableRunning(program.pid());
    if (!disabled) throw std::runtime_error(disabled.error().message);
    figures.disable.processor.push_back(program.ProcessorMicroseconds() - before);
  };
  enable(figures.load);
  disable();
  for (int i = 0; i < 3; ++i) {
    enable(figures.enable);
    disable();
  }
}

void Print(std::vector<double> of, const char* name, const char* end) {
  std::sort(of.begin(), of.end());
  std::printf("\"%s\": {\"best\": %.0f, \"median\": %.0f}%s", name, of.front(), of[of.size() / 2],
              end);
}

int Main(int rounds) {
  Figures figures;
  for (int i = 0; i < rounds; ++i) Measure(figures);
  std::printf("{");
  Print(figures.load.stopped, "load_stopped", ", ");
  Print(figures.load.processor, "load_processor", ", ");
  Print(figures.enable.stopped, "enable_stopped", ", ");
  Print(figures.enable.processor, "enable_processor", ", ");
  Print(figures.disable.processor, "disable_processor", "}\n");
  return 0;
}

}  // namespace
}  // namespace leakgate::bench

int main(int count, char** arguments) {
  try {
    if (count > 2) leakgate::bench::g_agent = arguments[2];
    return leakgate::bench::Main(count > 1 ? std::max(1, std::atoi(arguments[1])) : 20);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "leakgate_bench_attach: %s\n", error.what());
    return 1;
  }
}
