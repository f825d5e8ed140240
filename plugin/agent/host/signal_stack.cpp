#include "plugin/agent/host/signal_stack.h"

#include <atomic>
#include <cstdint>

namespace leakgate::agent {
namespace {

// Further threads are not noted. All relaxed: the runner reads it while the process is stopped.
constexpr std::uint32_t kMostStacks = 4096;
constinit std::atomic<void*> g_stacks[kMostStacks] = {};
thread_local constinit std::atomic<void*>* t_stack = nullptr;

std::atomic<void*>* TakePlace(void* stack) {
  for (std::atomic<void*>& place : g_stacks) {
    void* free = nullptr;
    if (place.compare_exchange_strong(free, stack, std::memory_order_relaxed)) return &place;
  }
  return nullptr;
}

}  // namespace

KeptRange MemoryOfSignalStacks() {
  const auto begin = reinterpret_cast<std::uint64_t>(g_stacks);
  return {begin, begin + sizeof(g_stacks)};
}

void NoteSignalStack(void* stack) {
  if (stack == nullptr) return EndSignalStack();
  if (t_stack != nullptr) return t_stack->store(stack, std::memory_order_relaxed);
  t_stack = TakePlace(stack);
}

void EndSignalStack() {
  if (t_stack != nullptr) t_stack->store(nullptr, std::memory_order_relaxed);
  t_stack = nullptr;
}

}  // namespace leakgate::agent
