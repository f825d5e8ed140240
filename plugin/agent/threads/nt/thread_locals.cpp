#include "plugin/agent/threads/thread_locals.h"

#include <new>

#include "plugin/agent/nt/last_error.h"
#include "plugin/agent/nt/syscall.h"

namespace leakgate::agent {

constinit std::uint64_t g_thread_slot = 0;
constinit ThreadLocals g_no_locals{.handle = {.activity = Activity::kRecording}, .facts = {}};

bool PrepareThreadLocals() {
  constexpr DWORD kSlotsOfBlock = 64;
  const DWORD slot = ::TlsAlloc();
  g_thread_slot = slot;
  return slot < kSlotsOfBlock;
}

ThreadLocals& MakeThreadLocals() {
  const LastErrorKeeper keeper;
  void* const memory = MapPrivate(sizeof(ThreadLocals));
  if (memory == nullptr) return g_no_locals;
  auto* const locals = new (memory) ThreadLocals;
  ::TlsSetValue(static_cast<DWORD>(g_thread_slot), locals);
  return *locals;
}

void EndThreadLocals() {
  void* const locals = ::TlsGetValue(static_cast<DWORD>(g_thread_slot));
  if (locals == nullptr) return;
  ::TlsSetValue(static_cast<DWORD>(g_thread_slot), nullptr);
  Unmap(locals, sizeof(ThreadLocals));
}

}  // namespace leakgate::agent
