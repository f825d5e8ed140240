// Writing a snapshot file of many live blocks, and showing it. The agent's own objects fill
// a region of this process, by stacks of real functions; both measured steps have a process
// of their own, so that the memory that each needs is its own, too.
//
// leakgate_bench_snapshot_file COUNT [FILE]
//
// FILE is kept; without it, a file in the temporary directory is not.
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/windows/windows.h"
#include "runner/attribution/code_owner.h"
#include "runner/snapshot/file/describe_process.h"
#include "runner/snapshot/file/write_snapshot.h"
#include "runner/snapshot/view/show_snapshot.h"
#include "tests/bench/workloads/call_depth.h"
#include "tests/unit/agent/traced_region.h"

namespace {

using namespace leakgate;

constexpr std::uint64_t kHeap = 0x5555'0000'0000;
constexpr int kBranchings = 13;  // 8192 stacks, of 15 frames and more

std::uint64_t g_address = kHeap;

[[gnu::noinline]] void Allocate(std::uint64_t bytes) {
  agent::RecordAllocation(reinterpret_cast<void*>(g_address), bytes, AllocationKind::kMalloc,
                          LEAKGATE_CALLER_FRAME());
  g_address += std::max<std::uint64_t>(32, (bytes + 8 + 15) / 16 * 16);  // as glibc does
  asm volatile("");                                                      // no tail call
}

// Each bit of `path` is another call, so that each path is another stack.
template <int left>
[[gnu::noinline]] void Descend(unsigned path, std::uint64_t bytes) {
  if constexpr (left == 0) {
    Allocate(bytes);
  } else if ((path & 1) != 0) {
    Descend<left - 1>(path >> 1, bytes);
  } else {
    Descend<left - 1>(path >> 1, bytes);
  }
  asm volatile("");
}

// Sizes as heaps have them: mostly small, and neighbours by different stacks.
void Fill(std::uint64_t count) {
  std::uint64_t random = 88172645463325252;
  for (std::uint64_t i = 0; i < count; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    Descend<kBranchings>(static_cast<unsigned>(random & ((1U << kBranchings) - 1)),
                         8 + (random >> 32) % (random % 64 == 0 ? 2000 : 60));
  }
}

struct Cost {
  double seconds = 0;
  double processor_seconds = 0;
  double memory_mib = 0;  // at its greatest, without the region's own
};

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Anonymous memory at its greatest is not told: what there is at the end stands for it,
// together with what has been freed and kept.
Cost Measure(const std::function<void()>& step) {
  std::fflush(stdout);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    step();
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) {
    throw std::runtime_error("a step has failed");
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  return {wall.count(), SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

void Print(const char* step, const Cost& cost) {
  std::printf("bench.%s_s %.3f\nbench.%s_processor_s %.3f\nbench.%s_mib %.0f\n", step, cost.seconds,
              step, cost.processor_seconds, step, cost.memory_mib);
}

void Write(const std::filesystem::path& file) {
  const RegionReader& region = test::TracedRegion().reader();
  if (!WriteSnapshot(region,
                     {.facts = DescribeProcess(region, ::getpid(), ExecutedProgramOf(::getpid())),
                      .thread_name = nullptr},
                     file)) {
    std::abort();
  }
}

void Show(const std::filesystem::path& file) {
  SnapshotView view({}, Symbolizer(IsRuntimeModule));
  if (!view.Read(file)) std::abort();
  if (ShowText(view, {}, {}).empty()) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = bench::Argument(argc, argv, 1);
  const std::filesystem::path file =
      argc > 2 ? std::filesystem::path(argv[2])
               : std::filesystem::temp_directory_path() / "leakgate_bench.snapshot";
  test::TracedRegion();
  if (!agent::StartThreads() || !agent::SwitchOn()) return 1;
  agent::g_region.header().agent_state = static_cast<std::uint32_t>(AgentState::kTracing);
  agent::OpenWindow({.kind = WindowKind::kProgram, .name = "", .file = {}});
  agent::OpenWindow({.kind = WindowKind::kTest, .name = "Some.Test", .file = {}});
  Fill(count);

  const Cost write = Measure([&] { Write(file); });
  Print("write", write);
  std::printf("bench.file_mib %.1f\n",
              static_cast<double>(std::filesystem::file_size(file)) / (1 << 20));
  Print("show", Measure([&] { Show(file); }));
  if (argc <= 2) std::filesystem::remove(file);
}
