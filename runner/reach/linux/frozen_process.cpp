#include "runner/reach/linux/frozen_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "runner/arch/held_call.h"
#include "runner/arch/registers.h"
#include "runner/base/descriptors.h"
#include "runner/process/linux/ptrace_stops.h"
#include "runner/process/linux/thread_clock.h"
#include "runner/process/linux/waiting_call.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kShortestSleep(100);  // what the kernel makes of any
constexpr std::chrono::seconds kFreezePatience(2);        // for a thread that the kernel keeps
constexpr std::chrono::seconds kProcessorPatience(20);    // for one that waits for a processor
constexpr std::chrono::milliseconds kClockError(10);      // of SleepsSince: no wait may end early

Error SeizeError(int pid, int tid, int error) {
  const std::string tracer = StatusField(pid, tid, "TracerPid");
  if (!tracer.empty() && tracer != "0") {
    return {
        fmt::format("a debugger (PID {}) already traces the process; end it to learn which "
                    "blocks are lost",
                    tracer)};
  }
  if (error == EPERM || error == ENOSYS) {
    return {
        fmt::format("the kernel does not let PID {} be stopped: {}; allow ptrace (in a "
                    "container: --cap-add=SYS_PTRACE), or let the program keep its user",
                    pid, ErrnoText(error))};
  }
  return {fmt::format("cannot stop thread {} of PID {}: {}", tid, pid, ErrnoText(error))};
}

// Returns everything about the thread but its name; nothing if it has died. Any word of the vector
// registers may be a pointer, too.
std::optional<FrozenThread> ReadRegisters(int tid) {
  const std::optional<RegisterSet> general = GetRegisterSet(tid);
  if (!general) return std::nullopt;
  FrozenThread thread;
  thread.tid = tid;
  thread.stack_pointer = StackPointerOf(*general);
  thread.program_counter = ProgramCounterOf(*general);
  thread.thread_pointer = ThreadPointerOf(*general);
  thread.registers = GeneralValuesOf(*general);

  const std::vector<std::uint8_t> vectors = GetVectors(tid).value_or(std::vector<std::uint8_t>());
  const std::size_t general_count = thread.registers.size();
  const std::size_t words = vectors.size() / sizeof(std::uint64_t);
  thread.registers.resize(general_count + words);
  if (words != 0) {
    std::memcpy(&thread.registers[general_count], vectors.data(), words * sizeof(std::uint64_t));
  }
  return thread;
}

// Returns the thread's registers if it is to begin its system call again.
std::optional<RegisterSet> RestartCallOf(int tid) {
  std::optional<RegisterSet> general = GetRegisterSet(tid);
  const bool begins_again = general && RestartInterruptedCall(*general);
  return begins_again && SetRegisterSet(tid, *general) ? general : std::nullopt;
}

// Returns the list by which the kernel finds the thread's robust mutexes. glibc has it in the
// thread's descriptor. 0 if there is none.
std::uint64_t RobustListOf(int tid) {
  void* list = nullptr;
  std::size_t bytes = 0;
  if (::syscall(SYS_get_robust_list, tid, &list, &bytes) != 0) return 0;
  return reinterpret_cast<std::uintptr_t>(list);
}

// Gives an epoll_wait that is made again what is left of its time.
void ShortenTimeLimit(RegisterSet& registers, Clock::time_point due) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()).count();
  SetFourthArgument(registers, static_cast<std::uint64_t>(std::max<std::int64_t>(left, 0)));
}

}  // namespace

FrozenProcess::FrozenProcess(const FreezeRequest& request)
    : request_(request), waiting_(WaitLock()) {}

Expected<FrozenProcess> FrozenProcess::Freeze(const FreezeRequest& request) {
  FrozenProcess process(request);
  LEAKGATE_TRY(process.SeizeAllThreads());
  if (process.threads_.empty()) return EndedError(request.pid);
  process.FindThreadPointers();
  return process;
}

// A thread that has not stopped yet may start others, so the list of threads is read again after
// all of them have stopped. It may wake others, too.
Expected<void> FrozenProcess::SeizeAllThreads() {
  const Clock::time_point begin = Clock::now();
  for (;;) {
    LEAKGATE_TRY_ASSIGN(const bool found, SeizeNewThreads());
    if (!found && (Clock::now() - begin >= kFreezePatience || !ForgetWoken())) return {};
    const Expected<void> stopped = WaitForStops();
    if (!stopped) return stopped;
  }
}

std::unordered_set<int> FrozenProcess::KnownThreads() const {
  std::unordered_set<int> known;
  for (const Held& held : held_) known.insert(held.tid);
  for (const Sleeper& sleeper : sleepers_) known.insert(sleeper.tid);
  return known;
}

// How often it has run is read first: if that is the same later, it has slept all the time. Before,
// one file tells most of the threads that are to be stopped in any case.
bool FrozenProcess::LeaveAsleep(Held& thread) {
  const int pid = request_.pid;
  const int tid = thread.tid;
  if (tid == request_.asking_tid) return false;
  if (request_.sleeping == SleepingThreads::kStoppedUnseen) {
    const std::optional<WaitingIn> seen = ReadWaiting(pid, tid);
    if (!seen || CostOfStop(pid, tid, *seen) == StopCost::kNone) return false;
  }
  const std::optional<std::uint64_t> runs = RunsOf(pid, tid);
  const std::optional<WaitingIn> waiting = runs ? ReadWaiting(pid, tid) : std::nullopt;
  if (!waiting || waiting->pc == 0 || waiting->call < 0) return false;
  std::optional<std::string> name = NameIfAsleep(pid, tid);
  if (!name || WakesByClock(*waiting)) return false;
  if (request_.sleeping == SleepingThreads::kStoppedUnseen) {
    if (CostOfStop(pid, tid, *waiting) == StopCost::kNone) return false;
    if (const auto limit = EventTimeLimitMs(*waiting)) {
      const auto slept = SleepsSince(pid, tid);
      if (slept) {
        thread.call = waiting->call;
        thread.due = *slept + std::chrono::milliseconds(*limit) + kClockError;
        return false;
      }
    }
  }
  sleepers_.push_back({tid, *runs});
  FrozenThread& frozen = threads_.emplace_back();
  frozen.tid = tid;
  frozen.name = *std::move(name);
  frozen.stack_pointer = waiting->sp;
  frozen.program_counter = waiting->pc;
  frozen.registers.assign(waiting->arguments.begin(), waiting->arguments.end());
  frozen.hides_registers = true;
  return true;
}

bool FrozenProcess::ForgetWoken() {
  const std::size_t before = sleepers_.size();
  std::erase_if(sleepers_, [this](const Sleeper& sleeper) {
    if (RunsOf(request_.pid, sleeper.tid) == sleeper.runs) return false;
    std::erase_if(threads_, [&](const FrozenThread& thread) { return thread.tid == sleeper.tid; });
    return true;
  });
  return sleepers_.size() != before;
}

bool FrozenProcess::HasStoodStill() const {
  return std::all_of(sleepers_.begin(), sleepers_.end(), [this](const Sleeper& sleeper) {
    return RunsOf(request_.pid, sleeper.tid) == sleeper.runs;
  });
}

// The list is at the same place in the descriptor of each thread.
void FrozenProcess::FindThreadPointers() {
  const auto stopped = std::find_if(threads_.begin(), threads_.end(), [](const FrozenThread& t) {
    return !t.hides_registers && t.thread_pointer != 0;
  });
  if (sleepers_.empty() || stopped == threads_.end()) return;
  const std::uint64_t list = RobustListOf(stopped->tid);
  if (list == 0) return;
  const std::uint64_t offset = list - stopped->thread_pointer;
  for (FrozenThread& thread : threads_) {
    if (!thread.hides_registers) continue;
    const std::uint64_t of_thread = RobustListOf(thread.tid);
    if (of_thread != 0) thread.thread_pointer = of_thread - offset;
  }
}

Expected<bool> FrozenProcess::SeizeNewThreads() {
  bool found = false;
  const std::unordered_set<int> known = KnownThreads();
  for (const int tid : ListThreads(request_.pid)) {
    if (known.contains(tid)) continue;
    Held thread{.tid = tid};
    if (LeaveAsleep(thread)) continue;
    if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
      const int error = errno;
      if (error == ESRCH || HasDied(request_.pid, tid)) continue;
      return Unexpected(SeizeError(request_.pid, tid, error));
    }
    held_.push_back(thread);
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
    found = true;
  }
  return found;
}

Expected<void> FrozenProcess::WaitForStops() {
  const Clock::time_point begin = Clock::now();
  auto pause = std::chrono::microseconds(20);
  for (;;) {
    for (Held& held : held_) {
      if (!held.is_stopped) NoteStopOrDeath(held);
    }
    std::erase_if(held_, [](const Held& held) { return held.tid == 0; });
    const auto running =
        std::find_if(held_.begin(), held_.end(), [](const Held& held) { return !held.is_stopped; });
    if (running == held_.end()) return {};
    const Clock::duration waited = Clock::now() - begin;
    if (waited >= kFreezePatience) {
      const std::string state = StatusField(request_.pid, running->tid, "State");
      if (waited >= kProcessorPatience || !state.starts_with('R')) {
        return InconclusiveError(
            fmt::format("thread {} of PID {} does not stop: the kernel keeps it (state {})",
                        running->tid, request_.pid, state));
      }
    }
    // Most threads stop at once, sooner than a sleep ends.
    if (waited < kShortestSleep) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(1000));
  }
}

void FrozenProcess::NoteStopOrDeath(Held& held) {
  siginfo_t seen{};
  const auto id = static_cast<id_t>(held.tid);
  if (::waitid(P_PID, id, &seen, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) {
    if (HasDied(request_.pid, held.tid)) held.tid = 0;
    return;
  }
  if (seen.si_pid == 0) {
    if (held.tid == request_.pid && HasDied(request_.pid, held.tid)) held.tid = 0;
    return;
  }
  const bool is_stop = seen.si_code == CLD_TRAPPED || seen.si_code == CLD_STOPPED;
  if (!is_stop) {
    if (held.tid != request_.pid) ::waitpid(held.tid, nullptr, __WALL | WNOHANG);
    held.tid = 0;
    return;
  }
  int status = 0;
  if (::waitpid(held.tid, &status, WNOHANG | __WALL) != held.tid || !WIFSTOPPED(status)) return;
  std::optional<FrozenThread> thread = ReadRegisters(held.tid);
  if (!thread) return;  // killed meanwhile
  held.is_stopped = true;
  const bool is_ours = status >> 16 == PTRACE_EVENT_STOP;
  held.signal = is_ours ? 0 : WSTOPSIG(status);
  if (is_ours) held.begins_again = RestartCallOf(held.tid);
  thread->name = NameOfThread(request_.pid, held.tid);
  threads_.push_back(*std::move(thread));
}

void FrozenProcess::Release(Held& held) {
  // It may have woken meanwhile, and wait in another call.
  if (held.begins_again && held.due && SystemCallOf(*held.begins_again) == held.call) {
    ShortenTimeLimit(*held.begins_again, *held.due);
    (void)SetRegisterSet(held.tid, *held.begins_again);
  }
  if (held.begins_again) RestartHeldCall(held.tid, *held.begins_again);
  if (held.is_stopped && ::ptrace(PTRACE_DETACH, held.tid, nullptr, held.signal) == 0) return;
  // The thread had not stopped, or it was killed meanwhile: then its end must be collected.
  if (held.tid != request_.pid) ::waitpid(held.tid, nullptr, __WALL | WNOHANG);
}

void FrozenProcess::Thaw() {
  for (Held& held : held_) Release(held);
  held_.clear();
  if (waiting_.owns_lock()) waiting_.unlock();
}

Unexpected WokenError(int pid) {
  return InconclusiveError(
      fmt::format("a thread of PID {} woke from a system call that a stop would have ended: the "
                  "snapshot is not of one moment; take it again",
                  pid));
}

}  // namespace leakgate
