#include "runner/run/self_test.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <optional>
#include <span>

#include "common/nt_self_test.h"
#include "runner/attribution/code_owner.h"
#include "runner/reach/find_reach.h"
#include "runner/run/nt/debugged_program.h"
#include "runner/run/nt/self_test_child.h"
#include "runner/run/nt/self_test_heap_tracing.h"
#include "runner/run/nt/self_test_profiling.h"
#include "runner/run/nt/self_test_stacks.h"
#include "runner/run/nt/self_test_system.h"

namespace leakgate {
namespace {

using Found = Expected<std::string>;  // what was found, or what is wrong

std::string Of(std::uint64_t seen, std::uint64_t expected, std::string_view what) {
  return fmt::format("{} of {} {}", seen, expected, what);
}

Expected<BlocksBySize> BlocksOf(const SelfTestRequest& request, const char* name) {
  LEAKGATE_TRY_ASSIGN(const SelfTestChild child, SelfTestChild::Run(request, {.name = name}));
  return child.LiveBlocks();
}

Expected<void> ExpectInitialisers(const BlocksBySize& blocks, std::uint64_t expected) {
  const std::uint64_t seen = Count(blocks, self_test::kInitialiserBytes);
  if (seen == expected) return {};
  return DoesNotHold(Of(seen, expected, "libraries' initialisers are seen"));
}

Found TestFirst(const SelfTestRequest& request) {
  LEAKGATE_TRY_ASSIGN(const BlocksBySize blocks, BlocksOf(request, self_test::kFirstCase));
  LEAKGATE_TRY(ExpectInitialisers(blocks, 1));
  return "the agent is initialised before the program's own libraries";
}

Found TestLate(const SelfTestRequest& request) {
  LEAKGATE_TRY_ASSIGN(const BlocksBySize blocks, BlocksOf(request, self_test::kLateCase));
  LEAKGATE_TRY(ExpectInitialisers(blocks, 2));
  return ExpectWays(blocks, self_test::kLateWays);
}

Found TestFunctions(const SelfTestRequest& request) {
  LEAKGATE_TRY_ASSIGN(const BlocksBySize blocks, BlocksOf(request, self_test::kFunctionsCase));
  return ExpectWays(blocks, self_test::kFunctions);
}

Expected<void> ExpectSmall(const AtVerdict& moment) {
  LEAKGATE_TRY_ASSIGN(const std::vector<LiveBlock> blocks, moment.region.LiveBlocks(moment.window));
  const BlocksBySize sizes = BySize(blocks);
  const std::uint64_t expected = self_test::kSmallEach / 2 * self_test::kSmallHeaps;
  for (std::uint64_t size = 1; size <= self_test::kSmallMost; ++size) {
    const std::uint64_t count = Count(sizes, size);
    if (count != expected) {
      return DoesNotHold(Of(count, expected, fmt::format("blocks of {} B", size)));
    }
  }
  return {};
}

Found TestSmall(const SelfTestRequest& request) {
  LEAKGATE_TRY_ASSIGN(
      const SelfTestChild child,
      SelfTestChild::Run(request, {.name = self_test::kSmallCase, .look = ExpectSmall}));
  return fmt::format("{} blocks of 1 to {} B in {} heaps, each exactly",
                     self_test::kSmallEach * self_test::kSmallMost * self_test::kSmallHeaps,
                     self_test::kSmallMost, self_test::kSmallHeaps);
}

constexpr std::uint64_t kHeld = std::size(self_test::kHeldBy);
constexpr std::uint64_t kLost = std::size(self_test::kLost);

std::optional<std::uint64_t> IndexOf(std::uint64_t size) {
  for (std::uint64_t index = 0; index < kHeld + kLost; ++index) {
    if (self_test::SizeOf(index) == size) return index;
  }
  return std::nullopt;
}

std::string_view NameOfBlock(std::uint64_t index) {
  return index < kHeld ? self_test::kHeldBy[index] : self_test::kLost[index - kHeld];
}

Expected<void> ExpectReach(const AtVerdict& moment) {
  LEAKGATE_TRY_ASSIGN(const std::vector<LiveBlock> blocks, moment.region.LiveBlocks(moment.window));
  Variables variables(IsRuntimeModule);
  LEAKGATE_TRY_ASSIGN(const std::vector<BlockReach> reaches,
                      FindReach({.pid = moment.region.Pid(),
                                 .region = moment.region,
                                 .candidates = blocks,
                                 .variables = variables,
                                 .asking_tid = moment.asking_tid}));
  std::vector<std::string> wrong;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::optional<std::uint64_t> index = IndexOf(blocks[i].size_bytes);
    if (!index) continue;
    ++seen;
    const bool is_lost = IsLost(reaches[i].reach);
    if (is_lost == (*index >= kHeld)) continue;
    wrong.push_back(fmt::format("{} ({})", NameOfBlock(*index),
                                is_lost ? "held, but taken for lost" : "lost, but taken for held"));
  }
  if (seen != kHeld + kLost) {
    return DoesNotHold(Of(seen, kHeld + kLost, "blocks are seen"));
  }
  if (wrong.empty()) return {};
  return DoesNotHold(fmt::format("wrong about {}", fmt::join(wrong, ", ")));
}

Found TestReach(const SelfTestRequest& request) {
  LEAKGATE_TRY_ASSIGN(
      const SelfTestChild child,
      SelfTestChild::Run(request, {.name = self_test::kReachCase, .look = ExpectReach}));
  return fmt::format("{} blocks that are held in as many ways, and {} that are lost", kHeld, kLost);
}

Found TestKilled(const SelfTestRequest& request) {
  LEAKGATE_TRY_ASSIGN(const SelfTestChild child,
                      SelfTestChild::Run(request, {.name = self_test::kKilledCase,
                                                   .exit_code = self_test::kKilledExit}));
  LEAKGATE_TRY_ASSIGN(const BlocksBySize blocks, child.LiveBlocks());
  const std::uint64_t seen = Count(blocks, self_test::SizeOf(0));
  if (seen != self_test::kKilledBlocks) {
    return DoesNotHold(Of(seen, self_test::kKilledBlocks, "blocks of a killed process"));
  }
  return fmt::format("read after the process was killed, with exit code {}; it took {} MiB",
                     self_test::kKilledExit, child.HeldBytes() >> 20);
}

// For --engine etw, which has no agent.
Found TestHeld(const SelfTestRequest& request) {
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<SuspendedProcess> process,
                      LaunchCase(request, self_test::kFirstCase, Debugged::kYes));
  DebuggedProgram program(*process);
  LEAKGATE_TRY(program.Resume());
  const auto deadline = DebuggedProgram::Clock::now() + std::chrono::seconds(60);
  DebuggedProgram::Stop stop = program.WaitUntil(deadline);
  const bool was_held = stop == DebuggedProgram::Stop::kHeld;
  if (was_held) stop = program.WaitUntil(deadline);
  if (stop == DebuggedProgram::Stop::kTime) {
    TerminateProcess(HandleOf(process->process()), 1);
    (void)program.WaitUntil(std::nullopt);
    return DoesNotHold("the program does not end while it has a debugger; it was ended");
  }
  const std::optional<ProgramExit> exit = process->Poll();
  if (!was_held || program.end() != ProgramEnd::kExit || !exit || exit->ShellCode() != 0) {
    return DoesNotHold("the program was not held before its end, as --engine etw needs it");
  }
  return "by a breakpoint, before static objects are destroyed; then it goes on to its end";
}

struct Assumption {
  const char* subject;
  Found (*test)(const SelfTestRequest& request);
};
constexpr Assumption kAssumptions[] = {
    {"first library", TestFirst}, {"later libraries", TestLate}, {"functions", TestFunctions},
    {"small blocks", TestSmall},  {"stacks", TestStacks},        {"lines", TestLines},
    {"reach", TestReach},         {"memory", TestKilled},        {"mappings", TestMappings},
    {"events", TestEvents},       {"held end", TestHeld},
};

}  // namespace

Expected<std::vector<Check>> TestSystem(const SelfTestRequest& request) {
  const std::filesystem::path program = request.folder / kSelfTestProgram;
  std::error_code error;
  if (!std::filesystem::exists(program, error)) {
    return UsageError(
        fmt::format("{}: there is no such file; unpack leakgate's archive with all of its folders",
                    Utf8Of(program.native())));
  }
  std::vector<Check> checks = ChecksOfSystem();
  for (const Assumption& assumption : kAssumptions) {
    const Found found = assumption.test(request);
    checks.push_back({found ? CheckResult::kOk : CheckResult::kNo, assumption.subject,
                      found ? *found : found.error().message});
  }
  for (Check& check : ChecksOfHeapTracing(request)) checks.push_back(std::move(check));
  return checks;
}

}  // namespace leakgate
