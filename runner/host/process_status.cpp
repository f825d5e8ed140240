#include "runner/host/process_status.h"

#include <array>
#include <nlohmann/json.hpp>

#include "runner/host/message_socket.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 5> kStateWords = {"tracing", "starting", "failed", "disabled",
                                                    "ended"};

ProcessState StateFromWord(const std::string& word) {
  for (std::size_t i = 0; i < kStateWords.size(); ++i) {
    if (word == kStateWords[i]) return static_cast<ProcessState>(i);
  }
  return ProcessState::kFailed;
}

ProcessState StateOf(const RegionReader& region, ImageLife life) {
  if (region.State() == AgentState::kFailed) return ProcessState::kFailed;
  if (life == ImageLife::kOver) return ProcessState::kEnded;
  if (region.End() == ProgramEnd::kDetached) return ProcessState::kDisabled;
  return region.State() == AgentState::kTracing ? ProcessState::kTracing : ProcessState::kStarting;
}

std::uint64_t DropsOf(const RegionReader& region) {
  std::uint64_t drops = 0;
  for (std::uint32_t i = 0; i < kDropReasonCount; ++i) {
    drops += region.Drops(static_cast<DropReason>(i));
  }
  return drops;
}

}  // namespace

ProcessStatus StatusOf(const RegionReader& region, ImageLife life) {
  ProcessStatus status;
  status.generation = region.Generation();
  status.state = StateOf(region, life);
  if (status.state == ProcessState::kFailed) status.problem = AgentFailureText(region.Failure());
  status.totals = region.CurrentTotals();
  status.drops = DropsOf(region);
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  status.attached_seconds = static_cast<std::int64_t>(region.AttachedAtNs() / kNsPerSecond);
  return status;
}

std::string AgentFailureText(AgentFailure failure) {
  switch (failure) {
    case AgentFailure::kNoMemory:
      return "the agent could not map its tables; raise the limit on address space (ulimit -v)";
    case AgentFailure::kEntriesNotHooked:
      return "its own allocator could not be led to the agent; let its code be changed before it "
             "runs (SELinux: execmod), or link the allocator as a shared library";
    case AgentFailure::kCanaryUnseen:
      return "a trial allocation was not recorded: the program's malloc is not the agent's; link "
             "no allocator into the executable, and preload none in front of the agent";
    case AgentFailure::kNone:
      break;
  }
  return "the agent did not start; has it the address space for its tables (ulimit -v)?";
}

const char* WordOf(ProcessState state) { return kStateWords[static_cast<std::size_t>(state)]; }

Json ToJson(const ProcessStatus& process) {
  return {{"pid", process.pid},
          {"generation", process.generation},
          {"path", process.program.path},
          {"name", process.program.name},
          {"arguments", process.program.arguments},
          {"state", WordOf(process.state)},
          {"problem", process.problem},
          {"recording_problem", process.recording_problem},
          {"begin_seconds", process.begin_seconds},
          {"start_time", process.start_time},
          {"allocated_bytes", process.totals.allocated_bytes},
          {"allocated_blocks", process.totals.allocated_blocks},
          {"freed_bytes", process.totals.freed_bytes},
          {"freed_blocks", process.totals.freed_blocks},
          {"drops", process.drops},
          {"attached_seconds", process.attached_seconds}};
}

ProcessStatus ProcessFromJson(const Json& body) {
  ProcessStatus process;
  std::string state;
  ReadMember(body, "pid", process.pid);
  ReadMember(body, "generation", process.generation);
  ReadMember(body, "path", process.program.path);
  process.program.name = process.program.path;  // an earlier leakgate sends no name
  ReadMember(body, "name", process.program.name);
  ReadMember(body, "arguments", process.program.arguments);
  ReadMember(body, "state", state);
  process.state = StateFromWord(state);
  ReadMember(body, "problem", process.problem);
  ReadMember(body, "recording_problem", process.recording_problem);
  ReadMember(body, "begin_seconds", process.begin_seconds);
  ReadMember(body, "start_time", process.start_time);
  ReadMember(body, "allocated_bytes", process.totals.allocated_bytes);
  ReadMember(body, "allocated_blocks", process.totals.allocated_blocks);
  ReadMember(body, "freed_bytes", process.totals.freed_bytes);
  ReadMember(body, "freed_blocks", process.totals.freed_blocks);
  ReadMember(body, "drops", process.drops);
  ReadMember(body, "attached_seconds", process.attached_seconds);
  return process;
}

}  // namespace leakgate
