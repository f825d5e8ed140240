#include "runner/attach/linux/safe_point.h"

#include <fmt/format.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <iterator>

#include "runner/arch/held_call.h"
#include "runner/attach/linux/thread_stops.h"

namespace leakgate {
namespace {

// Functions that hold locks which loading and allocating need, or that leave things half done.
constexpr std::string_view kUnsafe[] = {
    // the allocator
    "malloc", "free", "cfree", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc",
    "posix_memalign", "valloc", "pvalloc", "malloc_trim", "malloc_info", "malloc_stats", "mallinfo",
    "mallinfo2", "mallopt", "malloc_usable_size", "__libc_malloc", "__libc_free", "__libc_calloc",
    "__libc_realloc", "__libc_memalign", "__libc_freeres",
    // the dynamic linker
    "dlopen", "dlclose", "dlsym", "dlvsym", "dlmopen", "dlerror", "dladdr", "dladdr1", "dlinfo",
    "dl_iterate_phdr", "__libc_dlopen_mode", "__libc_dlsym", "__libc_dlclose", "__tls_get_addr",
    // processes and threads that begin or end
    "fork", "vfork", "_Fork", "clone", "posix_spawn", "posix_spawnp", "system", "popen", "wordexp",
    "daemon", "forkpty", "exit", "_exit", "_Exit", "quick_exit", "abort", "__cxa_finalize",
    "atexit", "on_exit", "at_quick_exit", "__cxa_atexit", "__cxa_at_quick_exit",
    "__cxa_thread_atexit_impl", "pthread_create", "pthread_exit", "pthread_cancel",
    "pthread_getattr_np", "pthread_key_create", "pthread_setspecific", "thrd_create", "thrd_exit",
    "execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat",
    // all threads change their user
    "setuid", "setgid", "seteuid", "setegid", "setreuid", "setregid", "setresuid", "setresgid",
    "setgroups", "initgroups"};

bool IsUnsafe(const PlacedFrame& frame) {
  return std::any_of(frame.names.begin(), frame.names.end(), [](std::string_view name) {
    return std::find(std::begin(kUnsafe), std::end(kUnsafe), name) != std::end(kUnsafe);
  });
}

bool IsLibrary(const PlacedFrame& frame) { return frame.owner == FrameOwner::kCLibrary; }

std::string TextOf(const PlacedFrame& frame) {
  return frame.names.empty() ? "the C library" : std::string(frame.names.front());
}

std::optional<std::string> WhyUnsafe(const PlacedFrame& frame, bool is_innermost) {
  if (frame.is_interrupted && !is_innermost) return "a signal's handler";
  switch (frame.owner) {
    case FrameOwner::kDynamicLinker:
      return "the dynamic linker";
    case FrameOwner::kAllocator:
      return "its allocator";
    case FrameOwner::kUnknown:
      return "code in no module";
    case FrameOwner::kAgent:
      if (frame.is_interrupted) return "the agent";
      break;
    case FrameOwner::kCLibrary:
      if (IsUnsafe(frame)) return TextOf(frame);
      break;
    case FrameOwner::kProgram:
      break;
  }
  return std::nullopt;
}

bool IsInCall(const RegisterSet& registers) { return SystemCallOf(registers) >= 0; }

std::vector<PlacedFrame> PlaceFrames(const TargetStack& stack, const TargetLayout& layout) {
  std::vector<PlacedFrame> placed;
  placed.reserve(stack.frames.size());
  for (const StackFrame& frame : stack.frames) {
    // A return address may be one past its function.
    const std::uint64_t pc = frame.is_interrupted ? frame.pc : frame.pc - 1;
    PlacedFrame& place = placed.emplace_back();
    place.owner = layout.OwnerOf(pc);
    place.is_interrupted = frame.is_interrupted;
    if (IsLibrary(place)) place.names = layout.LibraryNamesAt(pc);
  }
  return placed;
}

}  // namespace

std::optional<std::string> WhyUnsafe(std::span<const PlacedFrame> stack, ThreadRunState doing) {
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (auto why = WhyUnsafe(stack[i], i == 0)) return why;
  }
  if (stack.empty()) return "code without unwind information";
  if (IsLibrary(stack.front()) && doing == ThreadRunState::kRuns) return TextOf(stack.front());

  // Goes through the runs of the C library's frames. In each, the outermost frame is the function
  // by which the run was entered.
  auto at = stack.begin();
  while (at != stack.end()) {
    const auto begin = std::find_if(at, stack.end(), IsLibrary);
    if (begin == stack.end()) break;
    at = std::find_if_not(begin, stack.end(), IsLibrary);
    if (at == stack.end()) {
      // This is the outermost frame: it began the thread, and does nothing else now.
      if (begin == stack.begin()) return "a thread that begins or ends";
    } else if (std::prev(at)->names.empty()) {
      return "the C library";
    }
  }
  return std::nullopt;
}

Expected<SafePointCheck> SafePointCheck::Prepare(const TargetMemory& memory,
                                                 const TargetLayout& layout) {
  LEAKGATE_TRY_ASSIGN(auto unwinder, StackUnwinder::Create(memory));
  return SafePointCheck(memory, layout, std::move(unwinder));
}

void SafePointCheck::NoteMappings() {
  Expected<std::vector<MappedRange>> maps = ReadMaps(memory_->pid());
  if (maps) maps_ = *std::move(maps);
}

Expected<std::optional<std::string>> SafePointCheck::WhyNotOn(const HeldThread& thread) {
  const auto registers = thread.Registers();
  if (!registers) return "a thread that ends";
  if (!layout_->StillHolds(*memory_)) {
    return InconclusiveError(
        fmt::format("PID {} has executed another program meanwhile; try again", memory_->pid()));
  }
  if (!HasRoomOnStack(*registers, thread.tid())) {
    NoteMappings();  // the thread's stack may be new, or have grown
    if (!HasRoomOnStack(*registers, thread.tid())) return "a stack that is not its own";
  }
  const std::string_view forbids = WhyCannotCall(thread.tid());
  if (!forbids.empty()) return std::string(forbids);
  if (IsInRestartableSequence(thread.tid(), ProgramCounterOf(*registers)))
    return "a restartable sequence";
  // When the thread was chosen, it waited in no such call; it may hold any lock in this one. A
  // thread that a signal has stopped is done with its call.
  const bool shows = IsInCall(*registers) && MayShow(SystemCallOf(*registers));
  if (shows && !thread.was_stopped()) return "a system call";
  return WhyInUnsafeCode(*registers);
}

std::optional<std::string> SafePointCheck::WhyBlocksOthers(const HeldThread& thread) const {
  const auto registers = thread.Registers();
  return registers ? WhyInUnsafeCode(*registers) : std::nullopt;
}

std::optional<std::string> SafePointCheck::WhyInUnsafeCode(const RegisterSet& registers) const {
  const TargetStack stack = unwinder_->Unwind(registers);
  if (!stack.is_complete) return "code without unwind information";
  return WhyUnsafe(PlaceFrames(stack, *layout_),
                   IsInCall(registers) ? ThreadRunState::kWaits : ThreadRunState::kRuns);
}

// The thread must be on its own stack, not on a coroutine's, which may be small. The kernel names
// the first thread's stack; the others have their thread pointer at the end of theirs.
bool SafePointCheck::HasRoomOnStack(const RegisterSet& registers, int tid) const {
  constexpr std::uint64_t kRoom = 16 * 1024;
  const std::uint64_t sp = StackPointerOf(registers);
  const MappedRange* const range = FindRange(maps_, sp);
  if (range == nullptr || sp - range->begin < kRoom) return false;
  if (tid == memory_->pid()) return range->name == "[stack]";
  const std::uint64_t thread_pointer = ThreadPointerOf(registers);
  return range->Has(thread_pointer) && sp < thread_pointer;
}

// During a call the kernel would no longer know that the thread is in such a sequence (rseq(2)).
bool SafePointCheck::IsInRestartableSequence(int tid, std::uint64_t pc) const {
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
