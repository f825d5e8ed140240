#include "runner/attach/linux/safe_point.h"

#include <algorithm>
#include <array>
#include <iterator>

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

}  // namespace

std::optional<std::string> WhyUnsafe(std::span<const PlacedFrame> stack, ThreadDoing doing) {
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (auto why = WhyUnsafe(stack[i], i == 0)) return why;
  }
  if (stack.empty()) return "code without unwind information";
  if (IsLibrary(stack.front()) && doing == ThreadDoing::kRuns) return TextOf(stack.front());

  // Goes through the stretches of the C library's frames, each with the function that it was
  // entered by.
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

}  // namespace leakgate
