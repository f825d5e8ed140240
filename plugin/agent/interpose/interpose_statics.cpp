// The guards of local static variables, by which the C++ runtime runs their initialisers once in
// the life of a process (Itanium C++ ABI, 3.3.3). Blocks that such an initialiser allocates are
// marked: if they are still held, no repetition of the test is needed to prove that they are
// allocated once.
//
// A runtime that is linked into the program itself does not go through here. A library that is
// unloaded and loaded again initialises its variables again, so variables of libraries that were
// loaded later do not count. Nor does std::call_once: there may be any number of flags, for example
// in an array.
#include <atomic>

#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/linux/call_slots.h"
#include "plugin/agent/windows/windows.h"

using namespace leakgate::agent;

namespace {

// The runtime may be loaded later than the agent, and where RTLD_NEXT does not search. Relaxed: the
// value is the address of code, which all threads find alike.
template <typename Function>
Function* HostOf(std::atomic<Function*>& known, const char* name) {
  Function* host = known.load(std::memory_order_relaxed);
  if (host != nullptr) return host;
  host = reinterpret_cast<Function*>(FindHost(name, HostModules()));
  known.store(host, std::memory_order_relaxed);
  return host;
}

constinit std::atomic<int (*)(std::uint64_t*)> g_acquire{nullptr};
constinit std::atomic<void (*)(std::uint64_t*)> g_release{nullptr};
constinit std::atomic<void (*)(std::uint64_t*)> g_abort{nullptr};

// For a runtime that cannot be found: the guard's first byte shows it.
bool IsDone(const std::uint64_t* guard) { return *reinterpret_cast<const char*>(guard) != 0; }

void NoteBegin(const void* guard) {
  if (!IsTracing() || !IsNeverUnloaded(guard) || !CanRecord()) return;
  {
    const RecordingGuard recording;
    SettleWindows(recording);
    ThreadState& thread = *t_thread.state;
    if (thread.begun_static_count == kMostBegunStatics) return;
    thread.begun_statics[thread.begun_static_count++] = {
        guard, g_region.header().current_window.load(std::memory_order_relaxed)};
    thread.ForgetContext();
  }
  NoteUnsettled();
}

// Returns whether NoteBegin has noted it. Initialisers within it that have not ended never will,
// because a jump has left them.
bool NoteEnd(const void* guard) {
  ThreadState* const thread = t_thread.state;
  if (!IsTracing() || thread == nullptr || thread->span != g_span) return false;
  for (std::uint32_t count = thread->begun_static_count; count != 0; --count) {
    if (thread->begun_statics[count - 1].guard != guard) continue;
    if (!CanRecord()) return true;
    {
      const RecordingGuard recording;
      thread->begun_static_count = count - 1;
      thread->ForgetContext();
    }
    NoteUnsettled();
    return true;
  }
  return false;
}

}  // namespace

// These never start the agent: the caller may be an allocator that is just starting.
LEAKGATE_EXPORT int __cxa_guard_acquire(std::uint64_t* guard) {
  const auto acquire = HostOf(g_acquire, "__cxa_guard_acquire");
  const int must_initialise = acquire != nullptr ? acquire(guard) : (IsDone(guard) ? 0 : 1);
  if (must_initialise != 0) NoteBegin(guard);
  return must_initialise;
}

LEAKGATE_EXPORT void __cxa_guard_release(std::uint64_t* guard) {
  (void)NoteEnd(guard);
  const auto release = HostOf(g_release, "__cxa_guard_release");
  if (release != nullptr) return release(guard);
  *reinterpret_cast<char*>(guard) = 1;
}

LEAKGATE_EXPORT void __cxa_guard_abort(std::uint64_t* guard) {
  if (NoteEnd(guard)) g_region.header().static_was_aborted.store(1, std::memory_order_relaxed);
  const auto abort = HostOf(g_abort, "__cxa_guard_abort");
  if (abort != nullptr) abort(guard);
}
