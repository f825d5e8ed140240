#include "runner/session/run_reasons.h"

#include <fmt/format.h>

#include <string_view>

namespace leakgate {
namespace {

// Of the last image only: an earlier one ended in the next one's exec.
std::string DoubtAboutEnd(const RegionReader& last, const ProgramExit& program) {
  if (last.State() != AgentState::kTracing) {
    return "nothing was traced: " + AgentFailureText(last.Failure());
  }
  if (last.End() != ProgramEnd::kUnseen || program.ShellCode() != 0) return "";
  return "the program ended without its exit handlers, or executed another that cannot be traced "
         "(static, or without LD_PRELOAD), so what it left could not be judged; run the test "
         "binary itself";
}

// What to do about a drop, by its word in reports.
std::string_view RemedyFor(std::string_view drop) {
  if (drop == "reentered") return "let signal handlers not allocate";
  if (drop == "address_range" || drop == "unaligned") return "gate with another allocator";
  if (drop == "map_full" || drop == "no_thread_state") {
    return "raise the limit on address space (ulimit -v), or run fewer tests and threads at once";
  }
  return "split the run into shards, or repeat less";
}

}  // namespace

std::string AgentFailureText(AgentFailure failure) {
  switch (failure) {
    case AgentFailure::kNoMemory:
      return "the agent could not map its tables; raise the limit on address space (ulimit -v)";
    case AgentFailure::kCanaryUnseen:
      return "a trial allocation was not recorded: the program's malloc is not the agent's; link "
             "no allocator into the executable, and preload none in front of the agent";
    case AgentFailure::kNone:
      break;
  }
  return "the agent did not start; has it the address space for its tables (ulimit -v)?";
}

std::string DamageText() {
  return "the program has written over the memory that it shares with leakgate, so nothing that "
         "was "
         "recorded can be relied on; look for a wild pointer, for example with AddressSanitizer";
}

std::vector<std::string> ReasonsForDoubt(const Generations& generations, const RunResult& result) {
  std::vector<std::string> reasons = generations.errors();
  if (generations.processes().empty()) {
    if (!reasons.empty()) return reasons;
    return {
        "the agent did not start in the program, so nothing was traced; is it static, or does "
        "it clear LD_PRELOAD?"};
  }
  for (const auto& process : generations.processes()) {
    if (!process->region().IsWhole()) reasons.push_back(DamageText());
    if (process->failure().empty()) continue;
    reasons.push_back(
        fmt::format("a test could not be judged: {}; give leakgate more memory and processes "
                    "(ulimit -v, ulimit -u)",
                    process->failure()));
  }
  const std::string doubt = DoubtAboutEnd(generations.processes().back()->region(), result.program);
  if (!doubt.empty()) reasons.push_back(doubt);
  for (const auto& [reason, count] : result.tracing.drops) {
    reasons.push_back(fmt::format("{} event{} could not be recorded ({}); {}", count,
                                  count == 1 ? "" : "s", reason, RemedyFor(reason)));
  }
  // Call sites can no longer be told apart, and one's frees would count for another's blocks.
  const auto cut = result.tracing.stack_ends.find("table_full");
  if (cut != result.tracing.stack_ends.end()) {
    reasons.push_back(fmt::format("{} stack{} could not be recorded in full (stack_table_full); {}",
                                  cut->second, cut->second == 1 ? "" : "s",
                                  RemedyFor("stack_table_full")));
  }
  return reasons;
}

std::string TimeoutReason(const Generations& generations, std::chrono::milliseconds timeout) {
  const std::string running = RunningTest(generations);
  return fmt::format(
      "the timeout of {} s was reached{}{}; the program and all that it started were killed",
      static_cast<double>(timeout.count()) / 1000.0,
      running.empty() ? "" : " while this test ran: ", running);
}

}  // namespace leakgate
