// 10 million events of Windows' heap tracing, decoded, joined and judged: allocations of 2,000 call
// paths on 8 threads, their stacks of 24 frames, and frees; 100,000 blocks are live at any time,
// and are over the program's budget at its end. Prints seconds and MiB, and fails if it took more
// than 10 s or 200 MiB.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "runner/attribution/code_owner.h"
#include "runner/budget/read_budget.h"
#include "runner/etw/traced_region.h"
#include "runner/judge/window_judge.h"
#include "runner/region/region_file.h"

namespace {

using namespace leakgate;

constexpr std::uint64_t kRounds = 3'366'667;
constexpr std::uint64_t kLive = 100'000;
constexpr std::uint32_t kProcess = 7;

class Payload {
 public:
  template <typename Number>
  void Add(Number number) {
    std::memcpy(bytes_ + size_, &number, sizeof(number));
    size_ += sizeof(number);
  }
  std::span<const std::byte> Get() const { return {bytes_, size_}; }

 private:
  std::byte bytes_[256];
  std::size_t size_ = 0;
};

void Send(HeapTrace& trace, const EventProvider& provider, std::uint8_t opcode,
          std::uint32_t thread, std::uint64_t time, const Payload& payload) {
  trace.Add({.provider = provider,
             .opcode = opcode,
             .pointer_bytes = 8,
             .process = kProcess,
             .thread = thread,
             .time = time,
             .payload = payload.Get()});
}

void SendRound(HeapTrace& trace, std::uint64_t round) {
  const auto thread = static_cast<std::uint32_t>(round % 8);
  const std::uint64_t time = 10 * round + 10;
  const std::uint64_t address = 0x100000 + 64 * (round % kLive);
  const std::uint64_t heap = 0x10000;
  if (round >= kLive) {
    Payload freed;
    freed.Add(heap);
    freed.Add(address);
    freed.Add(std::uint32_t{2});
    Send(trace, kHeapProvider, 0x24, thread, time, freed);
  }
  Payload allocated;
  allocated.Add(heap);
  allocated.Add(std::uint64_t{48});
  allocated.Add(address);
  allocated.Add(std::uint32_t{2});
  Send(trace, kHeapProvider, 0x21, thread, time + 1, allocated);
  Payload stack;
  stack.Add(time + 1);
  stack.Add(kProcess);
  stack.Add(thread);
  for (std::uint64_t frame = 0; frame < 24; ++frame) stack.Add(0x401000 + frame + round % 2000);
  Send(trace, kStackProvider, 32, thread, time + 2, stack);
}

// The program's window, judged as a run does it.
WindowResult Judge(const HeapTrace& trace) {
  const auto file = RegionFile::Create({.pid = getpid()}).value();
  TracedModules modules;
  modules.Load({.begin = 0x400000, .end = 0x500000, .path = "program.exe", .build_id = {}}, 1);
  TracedRegion region(RegionWriter::Open(file->fd()).value(), modules);
  region.Write(trace);
  region.SetEnd(ProgramEnd::kExit);
  std::vector<BudgetFile> files = {
      ParseBudgetFile("c.leakgate.json",
                      R"({"component": "c", "limits": {"program": {"outstanding": {"bytes": 0}}}})")
          .value()};
  const BudgetSet budgets(std::move(files), "program.exe");
  const TestSources sources;
  Symbolizer symbolizer(IsRuntimeModule);
  Variables variables(IsRuntimeModule);
  const JudgeSurroundings around{.budgets = budgets,
                                 .sources = sources,
                                 .symbolizer = symbolizer,
                                 .variables = variables,
                                 .binary_name = "program.exe"};
  return WindowJudge(file->reader(), file->pid(), around).Judge(file->reader().Window(1), {});
}

}  // namespace

int main() {
  const auto begin = std::chrono::steady_clock::now();
  HeapTrace trace(kProcess);
  for (std::uint64_t round = 0; round < kRounds; ++round) SendRound(trace, round);
  trace.Finish();
  const WindowResult judged = Judge(trace);
  const auto live = static_cast<std::uint64_t>(judged.outstanding.blocks);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const std::string losses = DescribeLosses(trace.losses());
  std::printf("etw: %llu events in %.2f s, %ld MiB, %llu blocks over budget%s%s\n",
              static_cast<unsigned long long>(3 * kRounds - kLive), seconds, usage.ru_maxrss / 1024,
              static_cast<unsigned long long>(live), losses.empty() ? "" : ": ", losses.c_str());
  const bool is_judged = judged.verdict == Verdict::kOverBudget && live == kLive;
  return losses.empty() && is_judged && seconds <= 10 && usage.ru_maxrss <= 200 * 1024 ? 0 : 1;
}
