#include "runner/attach/linux/call_point.h"

#include <fmt/format.h>
#include <sys/ptrace.h>

#include "runner/attach/linux/waiting_threads.h"

namespace leakgate {
namespace {

bool IsInCall(const RegisterSet& registers) { return SystemCallOf(registers) >= 0; }

}  // namespace

Expected<CallPoint> CallPoint::Prepare(const TargetMemory& memory, const TargetLayout& layout) {
  auto unwinder = StackUnwinder::Create(memory);
  if (!unwinder) return Unexpected(unwinder.error());
  return CallPoint(memory, layout, *std::move(unwinder));
}

void CallPoint::NoteMappings() {
  Expected<std::vector<MappedRange>> maps = ReadMaps(memory_->pid());
  if (maps) maps_ = *std::move(maps);
}

Expected<std::optional<std::string>> CallPoint::WhyNotOn(const HeldThread& thread) {
  const auto registers = thread.Registers();
  if (!registers) return "a thread that ends";
  if (!layout_->StillHolds(*memory_)) {
    return InconclusiveError(
        fmt::format("PID {} has executed another program meanwhile; try again", memory_->pid()));
  }
  if (!HasRoomOnStack(*registers, thread.tid())) {
    NoteMappings();  // its stack may be new, or have grown
    if (!HasRoomOnStack(*registers, thread.tid())) return "a stack that is not its own";
  }
  if (IsInRestartableSequence(thread.tid(), ProgramCounterOf(*registers)))
    return "a restartable sequence";
  // When the thread was chosen, it waited in no such call; it may hold any lock in this one. A
  // thread that a signal has stopped is done with its call.
  const WaitingIn call{.call = SystemCallOf(*registers), .arguments = {}};
  const bool shows = IsInCall(*registers) && CostOf(call) == StopCost::kShows;
  if (shows && !thread.was_stopped()) return "a system call";
  return WhyInUnsafeCode(*registers);
}

std::optional<std::string> CallPoint::WhyHoldsUp(const HeldThread& thread) const {
  const auto registers = thread.Registers();
  return registers ? WhyInUnsafeCode(*registers) : std::nullopt;
}

std::optional<std::string> CallPoint::WhyInUnsafeCode(const RegisterSet& registers) const {
  const TargetStack stack = unwinder_->Unwind(registers);
  if (!stack.is_complete) return "code without unwind information";
  return WhyUnsafe(layout_->Place(stack),
                   IsInCall(registers) ? ThreadDoing::kWaits : ThreadDoing::kRuns);
}

// The thread must be on its own stack, not on a coroutine's, which may be small. The kernel names
// the first thread's stack; the others have their thread pointer at the end of theirs.
bool CallPoint::HasRoomOnStack(const RegisterSet& registers, int tid) const {
  constexpr std::uint64_t kRoom = 16 * 1024;
  const std::uint64_t sp = StackPointerOf(registers);
  const MappedRange* const range = FindRange(maps_, sp);
  if (range == nullptr || sp - range->begin < kRoom) return false;
  if (tid == memory_->pid()) return range->name == "[stack]";
  const std::uint64_t thread_pointer = ThreadPointerOf(registers);
  return range->Has(thread_pointer) && sp < thread_pointer;
}

// During a call the kernel would no longer know that the thread is in such a sequence (rseq(2)).
bool CallPoint::IsInRestartableSequence(int tid, std::uint64_t pc) const {
#ifdef PTRACE_GET_RSEQ_CONFIGURATION
  struct Sequence {
    std::uint32_t version, flags;
    std::uint64_t begin, bytes, abort;
  };
  __ptrace_rseq_configuration configuration{};
  if (::ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof(configuration), &configuration) <= 0) {
    return false;
  }
  constexpr std::uint64_t kSequenceAt = 8;  // struct rseq's rseq_cs
  if (configuration.rseq_abi_pointer == 0) return false;
  const auto at =
      memory_->Get<std::uint64_t>(configuration.rseq_abi_pointer + kSequenceAt).value_or(0);
  const auto sequence = at == 0 ? std::nullopt : memory_->Get<Sequence>(at);
  return sequence && pc - sequence->begin < sequence->bytes;
#else
  (void)tid;
  (void)pc;
  return false;
#endif
}

}  // namespace leakgate
