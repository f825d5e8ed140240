// Traces the fork children of a process that a run traces, each into a region of its own.
//
// A child of fork has the agent's memory, and not the region (base/region.h). It may run tests, as
// a shard, or be a test, with frameworks that fork for each one. So it asks the runner for a
// region, which begins empty: what the child has inherited is unknown there.
//
//   parent   TraceForks      the runner wants it (kTraceForks)
//   child    TraceIfForked   at its first allocation, if no test ran where it was forked
//                            at its first boundary of tests in any case
//
// A process that a test forks, such as a death test, is left to the test until it runs tests
// itself. A child that executes a program without an allocation asks nothing. Children of vfork
// share their parent's memory and its region.
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
  // The process that has asked to be traced, or is about to; a child finds its parent's PID. 0: no
  // children are traced. Stored with release after the rest; loaded with acquire.
  std::atomic<int> pid{0};
  char control[108] = {};  // a copy, since the program may overwrite its environment
};
constinit Forks g_forks;

// A signal handler may have interrupted the agent, or an allocator.
bool IsInTheMiddle() { return t_thread.IsRecording() || t_thread.activity == Activity::kAllocator; }

// Only one thread of the child asks; what the others allocate meanwhile is not recorded.
bool IsFirst() {
  int parent = g_forks.pid.load(std::memory_order_acquire);
  const int pid = CurrentPid();
  return parent != 0 && parent != pid &&
         g_forks.pid.compare_exchange_strong(parent, pid, std::memory_order_acq_rel);
}

void StartWatchingForForks() {
  Stage expected = Stage::kStarted;
  g_stage.compare_exchange_strong(expected, Stage::kForks, std::memory_order_acq_rel);
}

// A call that waits for the next allocation still waits: see stream_writer.h.
void StopWatchingForForks() {
  Stage expected = Stage::kForks;
  g_stage.compare_exchange_strong(expected, Stage::kStarted, std::memory_order_acq_rel);
}

}  // namespace

void TraceForks(const char* control) {
  const std::size_t length = std::strlen(control);
  if (length >= sizeof(g_forks.control)) return;
  std::memcpy(g_forks.control, control, length + 1);
  g_forks.pid.store(CurrentPid(), std::memory_order_release);
  StartWatchingForForks();
}

bool TraceIfForked(ForkOccasion occasion) {
  if (IsTracing()) return true;
  if (IsInTheMiddle()) return false;
  if (occasion == ForkOccasion::kAllocation && IsInTest()) {
    StopWatchingForForks();
    return false;
  }
  if (!IsFirst()) return false;
  StopWatchingForForks();
  ForgetRegion();
  BeginForkChild();
  const ControlReply reply = AskToBeTraced(g_forks.control, HelloFrom::kForked, WindowForExecs());
  if (reply.region_fd < 0) return false;
  StartTracing(reply.region_fd, TracingBegin::kForked);
  if (IsTracing()) StartWatchingForForks();
  NoteStarted();
  return IsTracing();
}

}  // namespace leakgate::agent
