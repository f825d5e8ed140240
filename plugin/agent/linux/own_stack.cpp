#include "plugin/agent/linux/own_stack.h"

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/memory_maps.h"
#include "plugin/agent/linux/syscall.h"

#include LEAKGATE_ARCH(memory)

// A variable of ld.so: where the main thread's stack was when the process began.
extern "C" void* __libc_stack_end;

namespace leakgate::agent {

// The kernel maps nothing within 128 MiB of the main thread's stack end (mmap_base in mm/util.c and
// in arch/x86/mm/mmap.c), so half of that belongs to the stack alone.
//
// glibc puts another thread's control block at the end of its stack. The last pages below it belong
// to the stack, because no stack is smaller. Its full extent is found out only when it matters.
OwnStack OwnStack::OfThisThread() {
  constexpr std::uint64_t kReservedForMain = 64ULL << 20;
  constexpr std::uint64_t kSurelyAThreads = 8192;
  OwnStack stack;
  stack.is_exact_ = CurrentTid() == CurrentPid();
  stack.end_ = stack.is_exact_
                   ? (reinterpret_cast<std::uint64_t>(__libc_stack_end) | (PageBytes() - 1)) + 1
                   : reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
  stack.begin_ = stack.end_ - (stack.is_exact_ ? kReservedForMain : kSurelyAThreads);
  return stack;
}

bool OwnStack::ContainsExactly(std::uint64_t address) {
  is_exact_ = true;
  char line[256];
  const MemoryMapping mapping = FindMapping(end_ - 1, line, sizeof(line));
  if (mapping.begin != 0) begin_ = mapping.begin;
  return address - begin_ < end_ - begin_;
}

}  // namespace leakgate::agent
