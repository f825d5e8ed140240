#include "runner/attach/linux/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "common/region_layout.h"
#include "runner/attach/linux/thread_stops.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kSafePointPatience(2);

}  // namespace

Expected<Target> Target::Open(int pid) {
  LEAKGATE_TRY_ASSIGN(TargetMemory memory, TargetMemory::Open(pid));
  Target target(std::make_unique<TargetMemory>(std::move(memory)));
  LEAKGATE_TRY(target.ReadLayout());
  return target;
}

Expected<void> Target::ReadLayout() {
  LEAKGATE_TRY_ASSIGN(TargetLayout layout, TargetLayout::Read(*memory_));
  safe_point_.reset();
  layout_ = std::make_unique<TargetLayout>(std::move(layout));
  LEAKGATE_TRY_ASSIGN(SafePointCheck safe_point,
                      ReplaceErrorIfGone(*memory_, SafePointCheck::Prepare(*memory_, *layout_)));
  safe_point_ = std::move(safe_point);
  return {};
}

AttachPointCopy Target::Point() const {
  auto point = ReadAttachPoint(*memory_, layout_->attach_point());
  if (!point) return {};
  // A fork child has a copy of its parent's state.
  const bool is_parents =
      point->pid != NamespacePid(pid()) && point->state != AttachState::kUnready;
  if (is_parents) point->state = AttachState::kIdle;
  return *point;
}

Expected<void> Target::RequireVersion() const {
  const auto point = ReadAttachPoint(*memory_, layout_->attach_point());
  if (!layout_->agent() || (point && point->layout_version == kLayoutVersion)) return {};
  return InconclusiveError(
      fmt::format("PID {} carries the agent of another leakgate; restart the program", pid()));
}

Expected<void> Target::AtSafePoint(const Calls& calls) {
  const bool is_stopped = IsStoppedBySignal(pid());
  if (is_stopped) {
    const Expected<void> met = RequireNothingHeldUp();
    if (!met) return met;
  }
  const Clock::time_point begin = Clock::now();
  ThreadProgress progress(pid());
  why_not_ = "none of its threads could be stopped";
  while (!progress.IsSpent(kSafePointPatience)) {
    // Once the cheaper ways have failed for some time, a call whose time limit then begins anew may
    // be stopped, too.
    const bool is_patient = Clock::now() - begin < kSafePointPatience / 4;
    const StopCost most = is_patient ? StopCost::kNone : StopCost::kRestarts;
    LEAKGATE_TRY_ASSIGN(const bool done,
                        TryThreads(calls, progress, is_stopped ? StopCost::kShows : most));
    if (done) return {};
    if (HasEnded()) return EndedError(pid());
    if (is_stopped && IsStoppedBySignal(pid())) break;  // nothing will change
    std::this_thread::sleep_for(std::chrono::microseconds(500 + std::rand() % 1000));
  }
  return Unexpected(NoSafePoint());
}

Error Target::NoSafePoint() const {
  if (IsStoppedBySignal(pid())) {
    return {
        fmt::format("PID {0} is stopped in {1}, where nothing can be called; let it go on (kill "
                    "-CONT {0}), then try again",
                    pid(), why_not_)};
  }
  return {fmt::format(
      "no safe point in PID {} within {} s: its threads were in {}; try again when it is less "
      "busy, or start it with 'leakgate run'",
      pid(), kSafePointPatience.count(), why_not_)};
}

// While a signal has stopped all threads, none releases the locks that it holds, and a call on
// another thread would wait for them for ever. On a busy machine, some threads may not have had a
// processor yet in order to stop.
Expected<void> Target::RequireNothingHeldUp() {
  const auto holds_up = [this](HeldThread& thread) {
    const std::optional<std::string> why = safe_point_->WhyBlocksOthers(thread);
    Continue(thread);
    if (why) why_not_ = *why;
    return why && IsStoppedBySignal(pid());
  };
  const std::vector<int> tasks = ListThreads(pid());
  if (tasks.size() == 1) return {};
  const ThreadProgress progress(pid());
  for (const int tid : tasks) {
    LEAKGATE_TRY_ASSIGN(std::optional<HeldThread> thread, stops_.Stop(tid));
    if (thread && holds_up(*thread)) return Unexpected(NoSafePoint());
  }
  const auto is_awaited = [this](int tid) { return stops_.IsAwaited(tid); };
  while (std::any_of(tasks.begin(), tasks.end(), is_awaited) && IsStoppedBySignal(pid())) {
    std::optional<HeldThread> late = stops_.TakeLate();
    if (late && holds_up(*late)) return Unexpected(NoSafePoint());
    if (!late && progress.IsSpent(kSafePointPatience)) {
      why_not_ = "a thread that does not stop";
      return Unexpected(NoSafePoint());
    }
    if (!late) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

Expected<bool> Target::TryThreads(const Calls& calls, ThreadProgress& progress, StopCost most) {
  while (std::optional<HeldThread> late = stops_.TakeLate()) {
    progress.NoteLook(late->tid());
    const Expected<bool> done = TryOn(*std::move(late), calls);
    if (!done || *done) return done;
  }
  for (const int tid : ThreadsToStop(pid(), most)) {
    if (stops_.IsAwaited(tid) || !progress.HasMoved(tid)) continue;
    safe_point_->NoteMappings();
    LEAKGATE_TRY_ASSIGN(std::optional<HeldThread> thread, stops_.Stop(tid));
    if (!thread) continue;
    progress.NoteLook(tid);
    const Expected<bool> done = TryOn(*std::move(thread), calls);
    if (!done || *done) return done;
    if (progress.IsSpent(kSafePointPatience)) break;
  }
  return false;
}

// Returns whether it is done. Fails if it has begun and failed.
Expected<bool> Target::TryOn(HeldThread thread, const Calls& calls) {
  const Clock::time_point begin = Clock::now();
  LEAKGATE_TRY_ASSIGN(const std::optional<std::string> unsafe, safe_point_->WhyNotOn(thread));
  if (unsafe) {
    why_not_ = *unsafe;
    Continue(thread);
    return false;
  }
  const int tid = thread.tid();
  {
    LEAKGATE_TRY_ASSIGN(RemoteCalls remote, RemoteCalls::Begin(thread, *memory_, layout_->library(),
                                                               [this] { stops_.ReleaseLate(); }));
    LEAKGATE_TRY(calls(remote));
  }
  thread.Release();
  tid_ = tid;
  stopped_ += Clock::now() - begin;
  return true;
}

Expected<void> Target::CallAgent(std::uint64_t AttachPointCopy::*function, std::string_view text) {
  const std::uint64_t address = Point().*function;
  return AtSafePoint([&](RemoteCalls& calls) { return calls.Call(address, text); });
}

bool Target::AwaitThreadsOutside() {
  ThreadProgress progress(pid());
  std::vector<int> inside = ListThreads(pid());
  for (;;) {
    std::erase_if(inside, [&](int tid) { return IsOutside(tid, progress); });
    if (inside.empty()) break;
    if (progress.IsSpent(kSafePointPatience)) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  stops_.ReleaseLate();
  return true;
}

// Returns whether the thread is not in the agent's code. A thread that waits in a system call
// elsewhere is not; a thread that runs is stopped to find out.
bool Target::IsOutside(int tid, ThreadProgress& progress) {
  const std::optional<TargetModule>& agent = layout_->agent();
  const std::optional<WaitingIn> waiting = ReadWaiting(pid(), tid);
  if (!waiting) return true;  // it has ended
  if (waiting->pc != 0) return !agent->Has(waiting->pc);
  if (stops_.IsAwaited(tid)) {
    stops_.ReleaseLate();
    return false;
  }
  if (!progress.HasMoved(tid)) return false;
  Expected<std::optional<HeldThread>> thread = stops_.Stop(tid);
  if (!thread || !*thread) return HasDied(pid(), tid);
  progress.NoteLook(tid);
  const auto registers = (*thread)->Registers();
  Continue(**thread);
  return registers && !agent->Has(ProgramCounterOf(*registers));
}

bool Target::HasEnded() const { return HasDied(pid(), pid()) && ListThreads(pid()).size() < 2; }

}  // namespace leakgate
