#include "plugin/agent/host/signal_stack.h"

#include <atomic>
#include <cstdint>

namespace leakgate::agent {
namespace {

// A record of the region's SignalStack.
struct alignas(16) Note {
  std::atomic<void*> begin;
  std::atomic<std::size_t> bytes;
};
static_assert(sizeof(Note) == sizeof(SignalStack));

// Further threads are not noted. All relaxed: the runner reads it while the process is stopped. The
// size is 0 while the address changes: then the stack is read as if a handler ran on it.
constexpr std::uint32_t kMostStacks = 4096;
constinit Note g_notes[kMostStacks] = {};
thread_local constinit Note* t_note = nullptr;

Note* TakeNote(void* stack) {
  for (Note& note : g_notes) {
    void* free = nullptr;
    if (note.begin.compare_exchange_strong(free, stack, std::memory_order_relaxed)) return &note;
  }
  return nullptr;
}

}  // namespace

KeptRange MemoryOfSignalStacks() {
  const auto begin = reinterpret_cast<std::uint64_t>(g_notes);
  return {begin, begin + sizeof(g_notes)};
}

void NoteSignalStack(void* stack, std::size_t bytes) {
  if (stack == nullptr) return EndSignalStack();
  if (t_note != nullptr) {
    t_note->bytes.store(0, std::memory_order_relaxed);
    t_note->begin.store(stack, std::memory_order_relaxed);
  } else {
    t_note = TakeNote(stack);
  }
  if (t_note != nullptr) t_note->bytes.store(bytes, std::memory_order_relaxed);
}

void EndSignalStack() {
  if (t_note != nullptr) {
    t_note->bytes.store(0, std::memory_order_relaxed);
    t_note->begin.store(nullptr, std::memory_order_relaxed);
  }
  t_note = nullptr;
}

}  // namespace leakgate::agent
