#include "plugin/agent/linux/own_stack.h"

#include <pthread.h>

#include "plugin/agent/linux/syscall.h"

// ld.so's: where the main thread's stack was when the process began.
extern "C" void* __libc_stack_end;

namespace leakgate::agent {
namespace {

// The kernel maps nothing within 128 MiB of the main thread's stack end
// (mmap_base in arch/x86/mm/mmap.c), so half of that is the stack's alone.
StackBounds MainStack() {
  constexpr std::uint64_t kReserved = 64ULL << 20;
  constexpr std::uint64_t kPageMask = 4095;
  const auto end = (reinterpret_cast<std::uint64_t>(__libc_stack_end) | kPageMask) + 1;
  return {end - kReserved, end};
}

}  // namespace

StackBounds OwnStack() {
  if (CurrentTid() == CurrentPid()) return MainStack();

  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* begin = nullptr;
  std::size_t bytes = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  if (!is_known) return {};
  const auto address = reinterpret_cast<std::uint64_t>(begin);
  return {address, address + bytes};
}

}  // namespace leakgate::agent
