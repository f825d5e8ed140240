#include "plugin/agent/start/forked_child.h"

#include <atomic>
#include <cstring>

#include "common/control_protocol.h"
#include "plugin/agent/exec/exec_notices.h"
#include "plugin/agent/linux/control_client.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/start/startup.h"
#include "plugin/agent/threads/thread_state.h"
#include "plugin/agent/windows/windows.h"

namespace leakgate::agent {
namespace {

struct Forks {
  // The process that has asked to be traced, or is about to: a child finds its parent's. 0: no
  // children are traced. Release after the rest; acquire.
  std::atomic<int> pid{0};
  char control[108] = {};  // a copy, since the program may write over its environment
};
constinit Forks g_forks;

// A handler of a signal may have interrupted the agent, or an allocator.
bool IsInTheMiddle() { return t_thread.IsRecording() || t_thread.activity == Activity::kAllocator; }

// One thread of the child's asks; what the others allocate meanwhile is not recorded.
bool IsFirst() {
  int parent = g_forks.pid.load(std::memory_order_acquire);
  const int pid = CurrentPid();
  return parent != 0 && parent != pid &&
         g_forks.pid.compare_exchange_strong(parent, pid, std::memory_order_acq_rel);
}

void LetForksComeBy() {
  Stage expected = Stage::kStarted;
  g_stage.compare_exchange_strong(expected, Stage::kForks, std::memory_order_acq_rel);
}

// What waits for the next allocation still waits: see stream_writer.h.
void LetAllocationsPass() {
  Stage expected = Stage::kForks;
  g_stage.compare_exchange_strong(expected, Stage::kStarted, std::memory_order_acq_rel);
}

}  // namespace

void TraceForks(const char* control) {
  const std::size_t length = std::strlen(control);
  if (length >= sizeof(g_forks.control)) return;
  std::memcpy(g_forks.control, control, length + 1);
  g_forks.pid.store(CurrentPid(), std::memory_order_release);
  LetForksComeBy();
}

bool TraceIfForked(ForkOccasion occasion) {
  if (IsTracing()) return true;
  if (IsInTheMiddle()) return false;
  if (occasion == ForkOccasion::kAllocation && IsInTest()) {
    LetAllocationsPass();
    return false;
  }
  if (!IsFirst()) return false;
  LetAllocationsPass();
  ForgetRegion();
  BeginForkChild();
  const ControlReply reply = AskToBeTraced(g_forks.control, HelloFrom::kForked, WindowForExecs());
  if (reply.region_fd < 0) return false;
  StartTracing(reply.region_fd, TracingBegin::kForked);
  if (IsTracing()) LetForksComeBy();
  NoteStarted();
  return IsTracing();
}

}  // namespace leakgate::agent
