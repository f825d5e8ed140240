#include "runner/named_session/process_status.h"

#include "runner/session/run_reasons.h"

namespace leakgate {
namespace {

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

}  // namespace leakgate
