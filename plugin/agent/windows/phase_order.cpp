#include "plugin/agent/windows/phase_order.h"

#include "common/region_layout.h"
#include "plugin/agent/base/region.h"

namespace leakgate::agent {
namespace {

// There is no phase for the windows that were open before without one that has ended since.
constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace

void PhaseOrder::Restart() {
  ForgetPhases(highest_end_);
  if (nodes_ != nullptr) NoteOwnMemory(nodes_, kMaxMeasuringWindows * sizeof(Node));
  newest_ = 0;
  open_count_ = 0;
  end_ = highest_end_ = 1;
  Enter(0);
}

// Each open window may need another phase when it closes, and that must be available.
bool PhaseOrder::HasRoom() {
  if (highest_end_ + open_count_ + 2 > kMaxPhases) return false;
  if (nodes_ == nullptr) nodes_ = static_cast<Node*>(MapOwn(kMaxMeasuringWindows * sizeof(Node)));
  return nodes_ != nullptr && EnsurePhases();
}

std::uint32_t PhaseOrder::Begin(std::uint32_t thread) {
  while (!BeginPhase(end_, thread)) ++end_;
  const std::uint32_t phase = end_++;
  if (end_ > highest_end_) highest_end_ = end_;
  return phase;
}

// Release pairs with the acquire in CurrentPhase: the record of the phase is complete.
void PhaseOrder::Enter(std::uint32_t phase) { g_phase.store(phase, std::memory_order_release); }

std::uint32_t PhaseOrder::Open(std::uint32_t window, std::uint32_t thread) {
  if (!HasRoom()) return 0;
  nodes_[window] = {.older = newest_, .newer = 0, .phase_before = CurrentPhase()};
  if (newest_ != 0) nodes_[newest_].newer = window;
  newest_ = window;
  ++open_count_;
  const std::uint32_t phase = Begin(thread);
  Enter(phase);
  return phase;
}

void PhaseOrder::Close(std::uint32_t window, std::uint32_t thread) {
  const Node node = nodes_[window];
  --open_count_;
  if (node.older != 0) nodes_[node.older].newer = node.newer;
  if (node.newer == 0) {
    newest_ = node.older;
    Enter(node.phase_before != kNone ? node.phase_before : Begin(thread));
    return;
  }
  nodes_[node.newer].older = node.older;
  nodes_[node.newer].phase_before = node.phase_before;
  ForgetPhasesFrom(nodes_[node.newer].newer);
  Enter(Begin(thread));
}

void PhaseOrder::ForgetPhasesFrom(std::uint32_t window) {
  for (; window != 0; window = nodes_[window].newer) nodes_[window].phase_before = kNone;
}

void PhaseOrder::TakeBackLast(std::uint32_t thread) {
  if (MayBeginAgain(end_ - 1, thread)) --end_;
}

}  // namespace leakgate::agent
