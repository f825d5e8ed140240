// The functions that the runner calls to enable tracing in this process while it runs, and to
// disable it (common/attach_point.h). It does so on one of the host's threads, at a moment when
// that holds no lock of the allocator or the dynamic linker; other threads run.
#include "common/attach_point.h"

#include "plugin/agent/exec/exec_environment.h"
#include "plugin/agent/exec/exec_notices.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/linux/control_client.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/start/redirected_calls.h"
#include "plugin/agent/start/startup.h"
#include "plugin/agent/threads/thread_state.h"

using namespace leakgate::agent;
using leakgate::AttachOutcome;
using leakgate::AttachPoint;
using leakgate::AttachState;

namespace {

void Enable(const char* control);
void RedirectAgain();
void Disable();
void Release();

}  // namespace

extern "C" {
__attribute__((visibility("default"))) constinit AttachPoint leakgate_attach_point = {
    .magic = leakgate::kAttachMagic,
    .layout_version = leakgate::kLayoutVersion,
    .state = static_cast<std::uint32_t>(AttachState::kUnready),
    .pid = 0,
    .outcome = static_cast<std::uint32_t>(AttachOutcome::kNone),
    .runner_pid = 0,
    .is_loaded_late = 0,
    .slots_changed = 0,
    .slots_unresolved = 0,
    .enable = Enable,
    .redirect_again = RedirectAgain,
    .disable = Disable,
    .release = Release,
};
}

namespace {

AttachPoint& g_point = leakgate_attach_point;

AttachState StateHere() {
  return static_cast<AttachState>(g_point.state.load(std::memory_order_relaxed));
}

void SetState(AttachState state) {
  g_point.pid.store(CurrentPid(), std::memory_order_relaxed);
  g_point.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

void Conclude(AttachOutcome outcome) {
  g_point.outcome.store(static_cast<std::uint32_t>(outcome), std::memory_order_release);
}

// A fork child of a traced process has the agent's memory and not the region. It must also free
// what its parent had parked.
void LeaveParentsRegion() {
  if (g_point.pid.load(std::memory_order_relaxed) == CurrentPid()) return;
  const AttachState state = StateHere();
  if (state == AttachState::kTracing || state == AttachState::kSwitchedOff) {
    ForgetRegion();
    SetState(AttachState::kIdle);
  }
}

[[nodiscard]] bool Redirected(Redirect to) {
  if (g_point.is_loaded_late.load(std::memory_order_relaxed) == 0) return true;
  const RedirectedSlots slots = RedirectInterposed(to);
  g_point.slots_changed.store(slots.changed, std::memory_order_relaxed);
  g_point.slots_unresolved.store(slots.unresolved, std::memory_order_relaxed);
  return slots.not_writable == 0;
}

void SwitchOffAgain(AttachOutcome outcome) {
  StopFollowingExecs();
  SwitchOff();
  (void)Redirected(Redirect::kToHost);
  SetState(AttachState::kSwitchedOff);
  Conclude(outcome);
}

void Enable(const char* control) {
  LeaveParentsRegion();
  if (StateHere() != AttachState::kIdle) return Conclude(AttachOutcome::kWrongState);
  const ControlReply reply = AskToBeTraced(control);
  if (!reply.has_answered) return Conclude(AttachOutcome::kNoAnswer);
  if (reply.region_fd < 0) return Conclude(AttachOutcome::kToldToStayOff);
  // This comes first, so that tracing begins in all modules at one moment.
  if (!Redirected(Redirect::kToAgent)) {
    CloseDescriptor(reply.region_fd);
    (void)Redirected(Redirect::kToHost);
    return Conclude(AttachOutcome::kNotWritable);
  }
  StartTracing(reply.region_fd, TracingBegin::kAttached);
  if (!IsTracing()) return SwitchOffAgain(AttachOutcome::kFailed);
  if ((reply.wants & leakgate::kNotifyExecs) != 0) StartExecNotices(control, reply.window);
  g_point.runner_pid.store(g_region.header().runner_pid, std::memory_order_relaxed);
  FollowExecs(control);
  SetState(AttachState::kTracing);
  Conclude(AttachOutcome::kDone);
}

void RedirectAgain() {
  if (StateHere() != AttachState::kTracing) return Conclude(AttachOutcome::kWrongState);
  Conclude(Redirected(Redirect::kToAgent) ? AttachOutcome::kDone : AttachOutcome::kNotWritable);
}

void Disable() {
  LeaveParentsRegion();
  if (StateHere() != AttachState::kTracing) return Conclude(AttachOutcome::kWrongState);
  g_region.header().program_end.store(static_cast<std::uint32_t>(leakgate::ProgramEnd::kDetached),
                                      std::memory_order_release);
  SwitchOffAgain(AttachOutcome::kDone);
}

void Release() {
  if (StateHere() != AttachState::kSwitchedOff) return Conclude(AttachOutcome::kWrongState);
  if (IsAnyThreadRecording()) return Conclude(AttachOutcome::kBusy);
  ReleaseRegion();
  g_point.runner_pid.store(0, std::memory_order_relaxed);
  SetState(AttachState::kIdle);
  Conclude(AttachOutcome::kDone);
}

}  // namespace

namespace leakgate::agent {

void NoteStarted() {
  g_point.is_loaded_late.store(IsLoadedLate() ? 1 : 0, std::memory_order_relaxed);
  if (IsTracing()) {
    g_point.runner_pid.store(g_region.header().runner_pid, std::memory_order_relaxed);
  }
  const bool is_mapped = g_region.base != nullptr;
  SetState(IsTracing() ? AttachState::kTracing
                       : (is_mapped ? AttachState::kSwitchedOff : AttachState::kIdle));
}

}  // namespace leakgate::agent
