#include "runner/attach/attach.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <optional>
#include <shared_mutex>
#include <thread>

#include "runner/attach/linux/program_begin.h"
#include "runner/attach/linux/refusals.h"
#include "runner/attach/linux/target.h"
#include "runner/base/descriptors.h"
#include "runner/base/linux/proc_place.h"
#include "runner/process/linux/ptrace_stops.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::chrono::seconds kLoadingPatience(2);
constexpr std::chrono::seconds kReleasePatience(2);
constexpr std::chrono::seconds kTurnPatience(5);  // OtherUsersProcesses::kAttachPatience is longer
constexpr std::chrono::milliseconds kMostPause(20);

bool IsAlive(int pid) { return pid > 0 && !HasDied(pid, pid); }

// The region of a runner that has ended belongs to nobody.
Expected<void> RequireNobodyElses(int pid, const AttachPointCopy& point) {
  const bool is_traced = point.state == AttachState::kTracing && point.runner_pid != ::getpid();
  if (!is_traced || !IsAlive(point.runner_pid)) return {};
  return InconclusiveError(fmt::format(
      "PID {} is traced already, by leakgate with PID {}; end that first", pid, point.runner_pid));
}

// Returns why neither a library nor a region can be opened in the process; nullopt if it has room
// for the descriptors.
std::optional<Error> LackOfDescriptors(int pid) {
  constexpr std::uint64_t kNeeded = 2;
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0) return std::nullopt;
  const std::uint64_t open = ReadResources(pid).file_descriptors.size();
  if (open == 0 || open + kNeeded <= limit.rlim_cur) return std::nullopt;
  return Error{fmt::format(
      "PID {} has {} file descriptors of the {} that it may have, and leakgate needs {} more for a "
      "moment; raise its limit (prlimit --pid {} --nofile={})",
      pid, open, limit.rlim_cur, kNeeded, pid, open + 16)};
}

Error Unanswered(int pid, AttachOutcome outcome) {
  const bool had_none =
      outcome == AttachOutcome::kNoAnswer || outcome == AttachOutcome::kToldToStayOff;
  if (const auto lack = had_none ? LackOfDescriptors(pid) : std::nullopt) return *lack;
  switch (outcome) {
    case AttachOutcome::kNoAnswer:
      return {
          fmt::format("the agent in PID {} had no answer from leakgate; both must be in one "
                      "network namespace (a container's is its own), and of one user or root",
                      pid)};
    case AttachOutcome::kToldToStayOff:
      return {
          fmt::format("no region was given to PID {}; its memory is short, or leakgate and its "
                      "agent differ in version",
                      pid)};
    case AttachOutcome::kNotWritable:
      return {
          fmt::format("the addresses that the modules of PID {} call cannot be changed: "
                      "mprotect is forbidden; start it with 'leakgate run'",
                      pid)};
    case AttachOutcome::kFailed:
      return {
          fmt::format("the agent in PID {} could not begin to trace: it had no memory, or a "
                      "trial allocation was not seen; start it with 'leakgate run'",
                      pid)};
    default:
      return {fmt::format("the agent in PID {} did not do what it was asked; try again", pid)};
  }
}

// Releases what a region still holds. REQUIRES: the region is switched off.
Expected<void> Release(int pid, Target& target) {
  const ThreadProgress progress(pid);
  for (std::chrono::milliseconds pause(1);; pause = std::min(2 * pause, kMostPause)) {
    if (target.AwaitThreadsOutside()) {
      const Expected<void> called = target.CallAgent(&AttachPointCopy::release);
      if (!called) return called;
      if (target.Point().state == AttachState::kIdle) return {};
    }
    if (progress.IsSpent(kReleasePatience)) break;
    std::this_thread::sleep_for(pause);  // so that threads that are recording can finish
  }
  return InconclusiveError(fmt::format(
      "a thread of PID {} stays in the middle of recording; its region stays mapped until "
      "tracing is enabled again",
      pid));
}

Expected<void> Disable(int pid, Target& target) {
  if (target.Point().state == AttachState::kTracing) {
    const Expected<void> called = target.CallAgent(&AttachPointCopy::disable);
    if (!called) return called;
  }
  if (target.Point().state != AttachState::kSwitchedOff) return {};
  return Release(pid, target);
}

// Redirects calls that the dynamic linker was resolving at the moment of redirecting.
Expected<void> RedirectLate(Target& target) {
  constexpr int kMostRounds = 5;
  for (int i = 0; i < kMostRounds; ++i) {
    const AttachPointCopy point = target.Point();
    if (i == 0 ? point.slots_unresolved == 0 : point.slots_changed == 0) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const Expected<void> called = target.CallAgent(&AttachPointCopy::redirect_again);
    if (!called) return called;
  }
  return {};
}

Expected<void> LoadAgent(const EnableRequest& request, Target& target) {
  const Expected<void> visible = RequireVisible(request.pid, request.agent);
  if (!visible) return visible;
  constexpr std::uint64_t kNowAndLocal = 2;  // RTLD_NOW | RTLD_LOCAL
  const Expected<void> called = target.AtSafePoint([&](RemoteCalls& calls) {
    return calls.Call(target.layout().dlopen(), request.agent.string(), kNowAndLocal);
  });
  if (!called) return called;
  const Expected<void> read = target.ReadLayout();
  if (!read) return read;
  if (target.layout().agent()) return {};
  if (const auto lack = LackOfDescriptors(request.pid)) return Unexpected(*lack);
  return InconclusiveError(fmt::format(
      "PID {} cannot load {}; make it readable for the process's user, on a file system that "
      "allows execution (no noexec)",
      request.pid, request.agent.string()));
}

Expected<Attachment> Enable(const EnableRequest& request, Target& target) {
  if (!target.layout().agent()) {
    LEAKGATE_TRY(LoadAgent(request, target));
  }
  LEAKGATE_TRY(target.RequireVersion());
  LEAKGATE_TRY(RequireNobodyElses(request.pid, target.Point()));
  LEAKGATE_TRY(Disable(request.pid, target));

  LEAKGATE_TRY(target.CallAgent(&AttachPointCopy::enable, request.control));
  const AttachPointCopy point = target.Point();
  if (point.state != AttachState::kTracing) {
    const Error error = Unanswered(request.pid, point.outcome);
    if (point.state == AttachState::kSwitchedOff) (void)Release(request.pid, target);
    return Unexpected(error);
  }
  LEAKGATE_TRY(RedirectLate(target));
  return Attachment{.origin = point.is_loaded_late ? AgentOrigin::kLoaded : AgentOrigin::kPreloaded,
                    .tid = target.tid(),
                    .stopped = target.stopped(),
                    .redirected_calls = point.slots_changed};
}

Expected<void> DisableAgentOf(int pid, Target& target) {
  if (!target.layout().agent()) return {};
  const Expected<void> version = target.RequireVersion();
  if (!version) return version;
  const Expected<void> free = RequireNobodyElses(pid, target.Point());
  if (!free) return free;
  return Disable(pid, target);
}

// Waits until no other leakgate attaches to the process or detaches from it: both take several
// steps, and two that mix would leave the process traced by neither. It is a lock on the process's
// memory, so only those who may trace the process can take it, and the kernel releases it when
// leakgate ends. Returns the descriptor that holds the lock. It is empty if the memory cannot be
// opened or locked: the next step then reports why, or works without.
Expected<UniqueFd> TakeTurn(int pid) {
  UniqueFd memory = OpenSharedPlaceOf(fmt::format("/proc/{}/mem", pid), O_RDONLY);
  const auto deadline = std::chrono::steady_clock::now() + kTurnPatience;
  for (std::chrono::milliseconds pause(1); memory; pause = std::min(2 * pause, kMostPause)) {
    if (::flock(memory.get(), LOCK_EX | LOCK_NB) == 0) break;
    if (errno != EWOULDBLOCK && errno != EINTR) return UniqueFd();
    if (std::chrono::steady_clock::now() >= deadline) {
      return InconclusiveError(fmt::format(
          "another leakgate has been attaching to PID {} for {} s; end that, or try again", pid,
          kTurnPatience.count()));
    }
    std::this_thread::sleep_for(pause);
  }
  return memory;
}

// A process that has just begun has no C library yet, or has loaded only part of it.
void AwaitLoaded(int pid) {
  const Expected<TargetMemory> memory = TargetMemory::Open(pid);
  const ThreadProgress progress(pid);
  while (memory && IsLoading(*memory) && !IsStoppedBySignal(pid)) {
    if (progress.IsSpent(kLoadingPatience)) return;  // the next step reports what is wrong
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Expected<Attachment> EnableOn(const EnableRequest& request) {
  AwaitLoaded(request.pid);
  LEAKGATE_TRY_ASSIGN(Target target, Target::Open(request.pid));
  return ReplaceErrorIfGone(target.memory(), Enable(request, target));
}

Expected<void> DisableOn(int pid) {
  LEAKGATE_TRY_ASSIGN(Target target, Target::Open(pid));
  return ReplaceErrorIfGone(target.memory(), DisableAgentOf(pid, target));
}

// Runs `work` on a thread of its own. When the thread ends, the kernel releases all that it holds.
template <typename Work>
auto OnOwnThread(const Work& work) {
  const auto on_thread = [&work] {
    const std::shared_lock waiting(WaitLock());
    return work();
  };
  return std::async(std::launch::async, on_thread).get();
}

}  // namespace

std::string UntracedText(int pid) {
  return fmt::format(
      "no session and no run traces PID {0}; enable it: leakgate snapshot config --pid {0} enable",
      pid);
}

Expected<Attachment> EnableRunning(const EnableRequest& request) {
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const UniqueFd turn, TakeTurn(request.pid));
  LEAKGATE_TRY(RequireAttachable(request.pid));
  return OnOwnThread([&] {
    return IsAtFirstInstruction(request.pid) ? EnableAtBegin(request) : EnableOn(request);
  });
}

Expected<void> DisableRunning(int pid) {
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const UniqueFd turn, TakeTurn(pid));
  const Expected<void> attachable = RequireAttachable(pid);
  if (!attachable) return attachable;
  return OnOwnThread([&] { return DisableOn(pid); });
}

}  // namespace leakgate
