#include "runner/attach/linux/remote_calls.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>

#include "runner/arch/held_call.h"
#include "runner/attach/linux/thread_stops.h"
#include "runner/process/linux/ptrace_stops.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kCallPatience(12);  // the agent waits for an answer for 10 s
constexpr std::chrono::seconds kMostPatience(30);
constexpr std::uint64_t kStackBytes = 512 * 1024;
constexpr int kChangeUserSignal = 33;  // glibc's SIGSETXID: its sender waits for all threads

constexpr std::uint64_t Bit(int signal) { return 1ULL << (signal - 1); }

constexpr std::uint64_t kNotHeldBack = Bit(SIGSEGV) | Bit(SIGBUS) | Bit(SIGILL) | Bit(SIGFPE) |
                                       Bit(SIGTRAP) | Bit(SIGSYS) | Bit(kChangeUserSignal);

bool IsCrash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGABRT || signal == SIGSYS;
}

}  // namespace

Expected<RemoteCalls> RemoteCalls::Begin(HeldThread& thread, const TargetMemory& memory,
                                         const RemoteLibrary& library,
                                         std::function<void()> meanwhile) {
  std::optional<HeldState> state = thread.State();
  if (!state) return EndedError(memory.pid());
  if (!thread.was_stopped()) (void)RestartInterruptedCall(state->registers);
  const std::int64_t call = SystemCallOf(state->registers);
  const bool fails = call >= 0 && IsInterruptedByStops(static_cast<std::uint64_t>(call));
  NoteIfCallContinues(thread.tid(), fails ? WhenInterrupted::kFails : WhenInterrupted::kGoesOn,
                      state->registers);

  RemoteCalls calls(thread, memory, library);
  calls.state_ = *std::move(state);
  calls.meanwhile_ = std::move(meanwhile);
  const std::uint64_t top = FreeStackBelow(calls.state_.registers);
  calls.own_frame_ = MakeSignalFrame(calls.state_, top, library.restorer);
  if (!memory.Write(calls.own_frame_.address, calls.own_frame_.bytes.data(),
                    calls.own_frame_.bytes.size())) {
    calls.thread_ = nullptr;
    return InconclusiveError(fmt::format("thread {} of PID {} has no room on its stack; try again",
                                         thread.tid(), memory.pid()));
  }
  const std::uint64_t errno_at = ThreadPointerOf(calls.state_.registers) + library.errno_offset;
  calls.errno_ = memory.Get<int>(errno_at).value_or(0);
  LEAKGATE_TRY(calls.MapStack());
  return calls;
}

RemoteCalls::RemoteCalls(RemoteCalls&& other) noexcept
    : thread_(std::exchange(other.thread_, nullptr)),
      memory_(other.memory_),
      library_(other.library_),
      meanwhile_(std::move(other.meanwhile_)),
      called_at_(other.called_at_),
      waited_(other.waited_),
      state_(std::move(other.state_)),
      own_frame_(std::move(other.own_frame_)),
      frame_(std::move(other.frame_)),
      stack_(other.stack_),
      last_result_(other.last_result_),
      errno_(other.errno_) {}

RemoteCalls::~RemoteCalls() {
  if (thread_ != nullptr) Restore();
}

// The registers are set to return through `frame` first. Only then may signals be held back, since
// the frame says which were not.
Expected<void> RemoteCalls::MapStack() {
  constexpr std::uint64_t kProtection = PROT_READ | PROT_WRITE;
  constexpr std::uint64_t kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  constexpr auto kNoDescriptor = static_cast<std::uint64_t>(-1);
  constexpr std::uint64_t kPageMask = 4095;
  const Expected<void> called =
      CallOn(own_frame_, {library_.mmap, {0, kStackBytes, kProtection, kFlags, kNoDescriptor, 0}});
  if (!called) return called;
  if (last_result_ == 0 || (last_result_ & kPageMask) != 0) {
    return InconclusiveError(fmt::format(
        "PID {} has no memory for a stack; raise its limit on address space (prlimit --as)",
        memory_->pid()));
  }
  stack_ = last_result_;
  frame_ = MakeSignalFrame(state_, stack_ + kStackBytes, library_.restorer);
  if (!memory_->Write(frame_.address, frame_.bytes.data(), frame_.bytes.size())) {
    return EndedError(memory_->pid());
  }
  return {};
}

RegisterSet RemoteCalls::Leaving(const SignalFrame& frame) const {
  return LeavingCall(state_.registers, frame, library_.restorer);
}

Expected<void> RemoteCalls::CallOn(const SignalFrame& frame, const FunctionCall& call) {
  const RegisterSet registers = EnteringCall(state_.registers, frame, library_.restorer, call);
  if (!thread_->SetRegisters(registers) || !thread_->SetBlockedSignals(~kNotHeldBack)) {
    return EndedError(memory_->pid());
  }
  return RunToReturn(frame);
}

Expected<void> RemoteCalls::RunToReturn(const SignalFrame& frame) {
  called_at_ = Clock::now();
  waited_ = {};
  int signal = 0;
  for (;;) {
    switch (RunToStop(signal)) {
      case ThreadStop::kCall: {
        signal = 0;
        const auto registers = thread_->Registers();
        if (!registers) break;
        const bool has_returned = IsLeavingCall(*registers, frame, library_.restorer);
        if (!has_returned) {
          last_result_ = ResultOf(*registers);  // behind the call, that is; before it, nothing
          continue;
        }
        // Instead of giving up the frame, the thread is put back to the point where it is about to
        // do so. That is one step, which either happens or does not.
        if (!thread_->SetRegisters(Leaving(frame))) break;
        if (RunToStop(0) != ThreadStop::kCall) break;
        return {};
      }
      case ThreadStop::kEvent:
        signal = 0;  // its process is being stopped; this thread follows when it is done
        continue;
      case ThreadStop::kSignal:
        signal = thread_->signal();
        if (!IsCrash(signal)) continue;
        return InconclusiveError(
            fmt::format("the call in PID {} was given up, for it took signal {}; please report it",
                        memory_->pid(), signal));
      case ThreadStop::kTimedOut:
        return InconclusiveError(fmt::format(
            "the call in PID {} was given up after {} s: another of its threads holds a lock of "
            "the dynamic linker's or the allocator's; try again",
            memory_->pid(), kCallPatience.count()));
      case ThreadStop::kGone:
        break;
    }
    return EndedError(memory_->pid());
  }
}

// A call that waits for a processor is not stuck.
ThreadStop RemoteCalls::RunToStop(int signal) {
  constexpr std::chrono::milliseconds kSlice(5);
  if (!thread_->RunToCall(signal)) return ThreadStop::kGone;
  for (;;) {
    const ThreadStop stop = thread_->WaitForStop(Clock::now() + kSlice);
    if (stop != ThreadStop::kTimedOut) return stop;
    meanwhile_();
    if (!IsReadyToRun(memory_->pid(), thread_->tid())) waited_ += kSlice;
    if (waited_ >= kCallPatience || Clock::now() - called_at_ >= kMostPatience) {
      return ThreadStop::kTimedOut;
    }
  }
}

Expected<void> RemoteCalls::Call(std::uint64_t function, std::string_view text,
                                 std::uint64_t number) {
  // A call never needs so much stack that it reaches the mapping's first page.
  const std::string terminated(text);
  if (!memory_->Write(stack_, terminated.c_str(), terminated.size() + 1)) {
    return EndedError(memory_->pid());
  }
  return CallOn(frame_, {function, {stack_, number}});
}

// Goes by way of a stop in which the kernel restarts an interrupted system call, if there was one:
// only there do the registers say so.
void RemoteCalls::Restore() {
  if (stack_ != 0) {
    (void)CallOn(own_frame_, {library_.munmap, {stack_, kStackBytes}});
  }
  const std::uint64_t errno_at = ThreadPointerOf(state_.registers) + library_.errno_offset;
  (void)memory_->Write(errno_at, &errno_, sizeof(errno_));
  if (thread_->Interrupt() != ThreadStop::kEvent) return;
  (void)thread_->SetRegisters(Leaving(own_frame_));
  (void)thread_->SetVectors(state_.vectors);
  (void)PutBack(thread_->tid(), state_);
}

}  // namespace leakgate
