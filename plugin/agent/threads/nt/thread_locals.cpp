#include "plugin/agent/threads/thread_locals.h"

#include <new>

#include "plugin/agent/nt/last_error.h"

namespace leakgate::agent {

constinit std::uint64_t g_thread_slot = 0;

namespace {

// For threads for which there is no memory. Whoever records is a drop (CanRecord).
constinit ThreadLocals g_none{.handle = {.activity = Activity::kRecording}, .facts = {}};

}  // namespace

bool PrepareThreadLocals() {
  constexpr DWORD kSlotsOfBlock = 64;
  const DWORD slot = ::TlsAlloc();
  g_thread_slot = slot;
  return slot < kSlotsOfBlock;
}

ThreadLocals& MakeThreadLocals() {
  const LastErrorKeeper keeper;
  void* const memory =
      ::VirtualAlloc(nullptr, sizeof(ThreadLocals), MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (memory == nullptr) return g_none;
  auto* const locals = new (memory) ThreadLocals;
  ::TlsSetValue(static_cast<DWORD>(g_thread_slot), locals);
  return *locals;
}

void EndThreadLocals() {
  void* const locals = ::TlsGetValue(static_cast<DWORD>(g_thread_slot));
  if (locals == nullptr) return;
  ::TlsSetValue(static_cast<DWORD>(g_thread_slot), nullptr);
  ::VirtualFree(locals, 0, MEM_RELEASE);
}

}  // namespace leakgate::agent
